-- The header of an instance (see instance-codec.ts), whose last 8 bytes say when it expires.
local HEADER = '>c4BBI2I4I4dd'
local HEADER_BYTES = 32

-- A live instance's header; nil for one that is gone, expired, not ours, or of a version that this release cannot read.
local function readHeader(key, nowMs)
  local bytes = redis.call('GETRANGE', key, 0, HEADER_BYTES - 1)
  if #bytes < HEADER_BYTES then return nil end
  local magic, version, _, _, size, _, generatedAtMs, expiresAtMs = struct.unpack(HEADER, bytes)
  if magic ~= 'SLFI' or version < 2 or version > 3 or expiresAtMs <= nowMs then return nil end
  return { size = size, generatedAtMs = generatedAtMs, expiresAtMs = expiresAtMs }
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

local function lengthenTtl(key, ttlMs)
  if redis.call('PTTL', key) < ttlMs then redis.call('PEXPIRE', key, ttlMs) end
end
