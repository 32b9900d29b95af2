-- The header of an instance (see instance-codec.ts), whose last 8 bytes say when it expires.
local HEADER = '>c4BBI2I4I4dd'
local HEADER_BYTES = 32

-- A live instance's header; nil for one that is gone, expired, or not ours.
local function readHeader(key, nowMs)
  local bytes = redis.call('GETRANGE', key, 0, HEADER_BYTES - 1)
  if #bytes < HEADER_BYTES then return nil end
  local magic, _, width, reasons, size, tableBytes, generatedAtMs, expiresAtMs = struct.unpack(HEADER, bytes)
  if magic ~= 'SLFI' or expiresAtMs <= nowMs then return nil end
  return {
    bytes = bytes, width = width, size = size, tableBytes = tableBytes,
    generatedAtMs = generatedAtMs, expiresAtMs = expiresAtMs,
  }
end

local function told(feedId, header)
  return { feedId, string.format('%.17g', header.generatedAtMs), header.size }
end

-- The alias is `<feedId> <expiresAtMs>`.
local function readAlias(key, nowMs)
  local value = redis.call('GET', key)
  if not value then return nil end
  local feedId, expiresAtMs = value:match('^(%S+) (%d+)$')
  if feedId and tonumber(expiresAtMs) > nowMs then return feedId end
  return nil
end

-- Members of `live` are `<feedId>`, a successor's `<feedId>><of>:<offset>`; their score is when they were read last.
local function feedIdOf(member)
  return member:match('^[^>]+')
end

local function hexOf(bytes)
  return (bytes:gsub('.', function(byte) return string.format('%02x', byte:byte()) end))
end

local function lengthenTtl(key, ttlMs)
  if redis.call('PTTL', key) < ttlMs then redis.call('PEXPIRE', key, ttlMs) end
end

-- Keeps what the hashes name for two lives more. Without a prefix the references lie elsewhere, and the caller does.
local function keepReferences(prefix, key, size, ttlMs)
  if prefix == '' then return end
  local hashes = redis.call('GETRANGE', key, HEADER_BYTES, HEADER_BYTES + 8 * size - 1)
  for at = 1, #hashes, 8 do
    redis.call('PEXPIRE', prefix .. hexOf(hashes:sub(at, at + 7)), 2 * ttlMs, 'GT')
  end
end
