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

-- `current` is all that is kept for a viewer beside the instances, a sorted set: `=<feedId>` is the alias, its score when it
-- expires; `<feedId>` (a successor's `<feedId>><of>:<offset>`) is an instance, its score when it was read last.
local function readAlias(key, nowMs)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, string.format('(%.0f', nowMs), '+inf')) do
    if member:sub(1, 1) == '=' then return member:sub(2) end
  end
  return nil
end

local function writeAlias(key, feedId, expiresAtMs)
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if member:sub(1, 1) == '=' then redis.call('ZREM', key, member) end
  end
  redis.call('ZADD', key, expiresAtMs, '=' .. feedId)
end

-- The members that are instances, the one read longest ago first.
local function listInstances(key)
  local members = {}
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if member:sub(1, 1) ~= '=' then members[#members + 1] = member end
  end
  return members
end

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
