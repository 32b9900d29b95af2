-- The parts of a log, all in its slot: `state` (a hash; with `dropped`, it tells versions and positions alone), `records` (a stream
-- whose ids are positions), `live` (hash: post id to the position of the entry that shows it), `time` (those by sortAt), `removals`
-- (hash: position of an entry that was removed to that of the record which removed it), `removed` (positions of entries that an
-- earlier release removed), `uris` (hash:
-- uri to positions of 8 of its entries, the first and the newest), `uses` (hash: post id to how many records but removals name it), `known` (hash: post id to JSON of
-- upstreamId, orderKey, revision, sortAt, arrivedAt, removedAt), `order` (those by `<orderKey>\0<post id>`), `shown` (post ids of
-- which the log brought a body while no record named them, by when), `bytes` (hash: post id to the bytes of the bodies that it
-- shows, their sum in `state`), `inside` (hash: such a post id to the posts in it, as key parts), `outbox` (a stream of
-- changes of posts, which lie in other slots: those behind `state`'s `made` are not made yet), `sweep` (the repair state), `status`.
local function readKnown(base, postId)
  local value = redis.call('HGET', base .. 'known', postId)
  return value and cjson.decode(value) or nil
end

local function writeKnown(base, postId, known)
  redis.call('HSET', base .. 'known', postId, cjson.encode(known))
end

local function orderMember(orderKey, postId)
  return orderKey .. '\0' .. postId
end

local function fieldsOf(list)
  local fields = {}
  for at = 1, #list, 2 do fields[list[at]] = list[at + 1] end
  return fields
end

-- As redis-keys.ts spells well-formed text.
local function keyPart(text)
  if text == '' then return '%' end
  return (text:gsub('[^%w_.-]', function(byte) return string.format('%%%02X', byte:byte()) end))
end

-- At least the time in ms: where a failover lost this log's newest writes, posts in other slots may know their numbers still.
local function nextNumber(base)
  local last = tonumber(redis.call('HGET', base .. 'state', 'changes') or 0)
  local seconds, micros = unpack(redis.call('TIME'))
  local number = string.format('%.0f', math.max(last + 1, seconds * 1000 + math.floor(micros / 1000)))
  redis.call('HSET', base .. 'state', 'changes', number)
  return number
end

-- The bytes of the bodies that the log shows through the post `via`.
local function setBytes(base, via, bytes)
  local old = tonumber(redis.call('HGET', base .. 'bytes', via) or 0)
  if bytes == old then return end
  if bytes > 0 then redis.call('HSET', base .. 'bytes', via, bytes) else redis.call('HDEL', base .. 'bytes', via) end
  redis.call('HINCRBY', base .. 'state', 'bytes', bytes - old)
end

local function allBytes(base)
  return tonumber(redis.call('HGET', base .. 'state', 'bytes') or 0)
end

-- This log does not show what it showed through the post `via` any more; where nobody else does, the first `lost` of those posts, of
-- which the first is `via` itself, lose their content.
local function endShowing(base, via, lost)
  local viaPart = keyPart(via)
  local parts = { viaPart }
  for part in (redis.call('HGET', base .. 'inside', via) or ''):gmatch('%S+') do parts[#parts + 1] = part end
  redis.call('HDEL', base .. 'inside', via)
  redis.call('ZREM', base .. 'shown', via)
  setBytes(base, via, 0)
  for at, part in ipairs(parts) do
    local ends = at <= lost and '1' or '0'
    local number = nextNumber(base)
    redis.call('XADD', base .. 'outbox', number .. '-1', 'post', part, 'via', viaPart, 'ends', ends)
  end
end

-- Those behind the one that was made last.
local function unmadeChanges(base, count)
  local made = redis.call('HGET', base .. 'state', 'made')
  return redis.call('XRANGE', base .. 'outbox', made and '(' .. made or '-', '+', 'COUNT', count)
end

-- How many are not made yet (1: some), and how many there are.
local function countChanges(base)
  return #unmadeChanges(base, 1), redis.call('XLEN', base .. 'outbox')
end
