-- KEYS: a log's state. ARGV: beforeMs, keepEntries, keepKnown, how many of a kind one step drops, keepBytes. Gives 1 when there is more to drop,
-- and whether changes of posts are not made yet.
local base = KEYS[1]:sub(1, -#'state' - 1)
local beforeMs, keepEntries, keepKnown, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local keepBytes = tonumber(ARGV[5])
local isFull = false

-- Posts whose records went before, and which a later poll read once more. Above the bound of bytes they go first.
local stale = redis.call('ZRANGEBYSCORE', base .. 'shown', '-inf',
  allBytes(base) > keepBytes and '+inf' or string.format('(%.0f', beforeMs), 'LIMIT', 0, step)
for _, via in ipairs(stale) do
  if redis.call('HEXISTS', base .. 'uses', via) == 0 then
    endShowing(base, via, false)
  else
    redis.call('ZREM', base .. 'shown', via)
  end
end
isFull = #stale == step

-- What goes is always the log's oldest part: up to the first record that all bounds keep.
local excessBytes = isFull and 0 or allBytes(base) - keepBytes
local excess = tonumber(redis.call('HGET', KEYS[1], 'entries') or 0) - keepEntries
local isYoung, isWithin = false, excess <= 0
local dropped, touched, entries, last = {}, {}, 0, nil
for _, record in ipairs(redis.call('XRANGE', base .. 'records', '-', '+', 'COUNT', step)) do
  local fields = fieldsOf(record[2])
  isYoung = isYoung or tonumber(fields.arrived) >= beforeMs
  if fields.kind == 'entry' and not isWithin then
    isWithin = excess <= 0
    excess = excess - 1
  end
  if isYoung and isWithin and excessBytes <= 0 then break end
  last = record[1]
  dropped[#dropped + 1] = fields
  if not touched[fields.post] then
    touched[fields.post] = true
    excessBytes = excessBytes - tonumber(redis.call('HGET', base .. 'bytes', fields.post) or 0)
  end
  if fields.kind == 'entry' then
    entries = entries + 1
    redis.call('SREM', base .. 'removed', record[1])
    if redis.call('HGET', base .. 'live', fields.post) == record[1] then
      redis.call('HDEL', base .. 'live', fields.post)
      redis.call('ZREM', base .. 'time', fields.post)
    end
    local left = {}
    for position in (redis.call('HGET', base .. 'uris', fields.uri) or ''):gmatch('%S+') do
      if position ~= record[1] then left[#left + 1] = position end
    end
    if #left > 0 then
      redis.call('HSET', base .. 'uris', fields.uri, table.concat(left, ' '))
    else
      redis.call('HDEL', base .. 'uris', fields.uri)
    end
  end
end
if last then
  local ms, n = last:match('^(%d+)-(%d+)$')
  redis.call('XTRIM', base .. 'records', 'MINID', string.format('%s-%.0f', ms, tonumber(n) + 1))
  redis.call('HSET', KEYS[1], 'trimmedTo', last)
  -- Not `-entries`: Redis takes no -0.
  redis.call('HINCRBY', KEYS[1], 'entries', 0 - entries)
  isFull = isFull or #dropped == step
end
for _, fields in ipairs(dropped) do
  if fields.kind ~= 'remove' and redis.call('HINCRBY', base .. 'uses', fields.post, -1) <= 0 then
    redis.call('HDEL', base .. 'uses', fields.post)
  end
end
for postId in pairs(touched) do
  if redis.call('HEXISTS', base .. 'uses', postId) == 0 then endShowing(base, postId, false) end
end
-- The body of a post that was edited is there until its edit goes, too.
isFull = isFull or (last ~= nil and allBytes(base) > keepBytes)

-- A new version, so that a poll which looked before does not append what has just left the index.
local surplus = math.min(redis.call('ZCARD', base .. 'order') - keepKnown, step)
if surplus > 0 then
  local highest
  for _, member in ipairs(redis.call('ZRANGE', base .. 'order', 0, surplus - 1)) do
    local orderKey, postId = member:match('^(%Z*)%z(.*)$')
    redis.call('HDEL', base .. 'known', postId)
    redis.call('ZREM', base .. 'order', member)
    highest = orderKey
  end
  local floorKey = redis.call('HGET', KEYS[1], 'floorKey')
  if not floorKey or isBelow(floorKey, highest) then redis.call('HSET', KEYS[1], 'floorKey', highest) end
  redis.call('HINCRBY', KEYS[1], 'version', 1)
  isFull = isFull or surplus == step
end
return { isFull and 1 or 0, (countChanges(base)) }
