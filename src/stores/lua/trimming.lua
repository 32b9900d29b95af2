-- Drops of a log what is beyond these bounds, at most `step` of a kind: beforeMs, keepEntries, keepKnown, keepBytes. `lost` is how many
-- of the posts that a record shows lose their content where nobody else shows them (see endShowing).

-- Posts whose records went before, and which a later poll read once more. Above the bound of bytes they go first.
local function dropShowings(base, bounds)
  local stale = redis.call('ZRANGEBYSCORE', base .. 'shown', '-inf',
    allBytes(base) > bounds.keepBytes and '+inf' or string.format('(%.0f', bounds.beforeMs), 'LIMIT', 0, bounds.step)
  for _, via in ipairs(stale) do
    if redis.call('HEXISTS', base .. 'uses', via) == 0 then
      endShowing(base, via, bounds.lost)
    else
      redis.call('ZREM', base .. 'shown', via)
    end
  end
  return #stale == bounds.step
end

local function dropEntry(base, position, fields)
  redis.call('HDEL', base .. 'removals', position)
  redis.call('SREM', base .. 'removed', position)
  if redis.call('HGET', base .. 'live', fields.post) == position then
    redis.call('HDEL', base .. 'live', fields.post)
    redis.call('ZREM', base .. 'time', fields.post)
  end
  local left = {}
  for other in (redis.call('HGET', base .. 'uris', fields.uri) or ''):gmatch('%S+') do
    if other ~= position then left[#left + 1] = other end
  end
  if #left > 0 then
    redis.call('HSET', base .. 'uris', fields.uri, table.concat(left, ' '))
  else
    redis.call('HDEL', base .. 'uris', fields.uri)
  end
end

-- What goes is always the log's oldest part: up to the first record that all bounds keep.
local function dropRecords(base, bounds, keepBytes)
  local state = base .. 'state'
  local excessBytes = allBytes(base) - keepBytes
  local excess = tonumber(redis.call('HGET', state, 'entries') or 0) - bounds.keepEntries
  local isYoung, isWithin = false, excess <= 0
  local dropped, touched, entries, last = {}, {}, 0, nil
  for _, record in ipairs(redis.call('XRANGE', base .. 'records', '-', '+', 'COUNT', bounds.step)) do
    local fields = fieldsOf(record[2])
    isYoung = isYoung or tonumber(fields.arrived) >= bounds.beforeMs
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
      dropEntry(base, record[1], fields)
    end
  end
  if not last then return false end

  local ms, n = last:match('^(%d+)-(%d+)$')
  redis.call('XTRIM', base .. 'records', 'MINID', string.format('%s-%.0f', ms, tonumber(n) + 1))
  redis.call('HSET', state, 'trimmedTo', last)
  -- Not `-entries`: Redis takes no -0.
  redis.call('HINCRBY', state, 'entries', 0 - entries)
  for _, fields in ipairs(dropped) do
    if fields.kind ~= 'remove' and redis.call('HINCRBY', base .. 'uses', fields.post, -1) <= 0 then
      redis.call('HDEL', base .. 'uses', fields.post)
    end
  end
  for postId in pairs(touched) do
    if redis.call('HEXISTS', base .. 'uses', postId) == 0 then endShowing(base, postId, bounds.lost) end
  end
  -- The body of a post that was edited is there until its edit goes, too.
  return #dropped == bounds.step or allBytes(base) > bounds.keepBytes
end

-- A new version, so that a poll which looked before does not append what has just left the index.
local function dropKnown(base, bounds)
  local surplus = math.min(redis.call('ZCARD', base .. 'order') - bounds.keepKnown, bounds.step)
  if surplus <= 0 then return false end
  local highest
  for _, member in ipairs(redis.call('ZRANGE', base .. 'order', 0, surplus - 1)) do
    local orderKey, postId = member:match('^(%Z*)%z(.*)$')
    redis.call('HDEL', base .. 'known', postId)
    redis.call('ZREM', base .. 'order', member)
    highest = orderKey
  end
  local state = base .. 'state'
  local floorKey = redis.call('HGET', state, 'floorKey')
  if not floorKey or isBelow(floorKey, highest) then redis.call('HSET', state, 'floorKey', highest) end
  redis.call('HINCRBY', state, 'version', 1)
  return surplus == bounds.step
end

-- True when there is more to drop.
local function trimLog(base, bounds)
  local isFull = dropShowings(base, bounds)
  isFull = dropRecords(base, bounds, isFull and math.huge or bounds.keepBytes) or isFull
  return dropKnown(base, bounds) or isFull
end
