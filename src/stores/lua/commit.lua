-- KEYS: a log's state. ARGV: expectedVersion, nowMs, the watermark's upstreamId and orderKey, floorKey, gaps, lateness, memory, the
-- repair state (each empty when it stays), six counts, how many records, how many changes to give, how many places; records, 9 values
-- each; places, a post id and its new orderKey each;
-- bodies: the post id that shows it and 6 values each. Gives 0 when another was first, else the state, the changes of posts to make, and
-- 1 when the log had been dropped.
local base = KEYS[1]:sub(1, -#'state' - 1)
local nowMs = tonumber(ARGV[2])
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
-- What a failover lost may have had the versions that come next: who has read one of those commits on nothing any more.
local history = replicationId()
local known = redis.call('HGET', KEYS[1], 'history')
if known and known ~= history then
  redis.call('HSET', KEYS[1], 'history', history, 'version', version + 1000)
  return 0
end
if version ~= tonumber(ARGV[1]) then return 0 end

local COUNTS = { 'posts', 'requests', 'duplicatesDropped', 'leaksPrevented', 'backfilled', 'gaps' }
local FIRST_RECORD = 19
local RECORD, PLACE, BODY = 9, 2, 7
local recordCount = tonumber(ARGV[16])
local firstPlace = FIRST_RECORD + recordCount * RECORD
local firstBody = firstPlace + tonumber(ARGV[18]) * PLACE

-- A script does not roll back: what does not fit is found before anything is changed.
local isLiveNow = {}
for at = FIRST_RECORD, firstPlace - 1, RECORD do
  local kind, postId = ARGV[at], ARGV[at + 1]
  local isLive = isLiveNow[postId]
  if isLive == nil then
    local known = readKnown(base, postId)
    isLive = known ~= nil and known[6] == ''
  end
  if isLive == (kind == 'entry') then
    return redis.error_reply('SLUICE ' .. kind .. ' of ' .. postId .. ': the log ' .. (isLive and 'knows it already' or 'has no such entry'))
  end
  isLiveNow[postId] = kind ~= 'remove'
end

local headMs, headN
local head = redis.call('HGET', KEYS[1], 'head')
if head then
  headMs, headN = head:match('^(%d+)-(%d+)$')
  headMs, headN = tonumber(headMs), tonumber(headN)
end

-- COPIES_PER_URI words of a text: the first, and those at its end.
local NEWEST = ('%S+ '):rep(6) .. '%S+$'
local function few(positions)
  local first, rest = positions:match('^(%S+) (.+)$')
  return first and first .. ' ' .. (rest:match(NEWEST) or rest) or positions
end

local function removeEntry(postId, removal)
  local position = redis.call('HGET', base .. 'live', postId)
  if not position then return end
  redis.call('HSET', base .. 'removals', position, removal)
  redis.call('HDEL', base .. 'live', postId)
  redis.call('ZREM', base .. 'time', postId)
end

local function move(postId, known, orderKey)
  redis.call('ZREM', base .. 'order', orderMember(known[2], postId))
  redis.call('ZADD', base .. 'order', 0, orderMember(orderKey, postId))
  known[2] = orderKey
  writeKnown(base, postId, known)
end

for at = FIRST_RECORD, firstPlace - 1, RECORD do
  local kind, postId, uri, upstreamId, orderKey, revision = unpack(ARGV, at, at + 5)
  local sortAt, arrivedAt, late = unpack(ARGV, at + 6, at + 8)
  if not headMs or nowMs > headMs then headMs, headN = nowMs, 0 else headN = headN + 1 end
  local position = string.format('%.0f-%.0f', headMs, headN)
  local known = readKnown(base, postId)
  if kind == 'entry' then
    if known then redis.call('ZREM', base .. 'order', orderMember(known[2], postId)) end
    writeKnown(base, postId, { upstreamId, orderKey, revision, sortAt, arrivedAt, '' })
    redis.call('ZADD', base .. 'order', 0, orderMember(orderKey, postId))
    removeEntry(postId, position)
    redis.call('HSET', base .. 'live', postId, position)
    redis.call('ZADD', base .. 'time', sortAt, postId)
    local positions = redis.call('HGET', base .. 'uris', uri)
    redis.call('HSET', base .. 'uris', uri, few(positions and positions .. ' ' .. position or position))
    redis.call('HINCRBY', KEYS[1], 'entries', 1)
  elseif kind == 'edit' then
    known[1], known[3] = upstreamId, revision
    move(postId, known, orderKey)
    sortAt = known[4]
  else
    known[6] = tonumber(arrivedAt) >= 1 and arrivedAt or '1'
    writeKnown(base, postId, known)
    removeEntry(postId, position)
    endShowing(base, postId, 1)
    sortAt = known[4]
  end
  if kind ~= 'remove' then redis.call('HINCRBY', base .. 'uses', postId, 1) end
  redis.call('XADD', base .. 'records', position,
    'kind', kind, 'post', postId, 'uri', uri, 'sort', sortAt, 'arrived', arrivedAt, 'late', late)
end

for at = firstPlace, firstBody - 1, PLACE do
  local known = readKnown(base, ARGV[at])
  if known and known[6] == '' then move(ARGV[at], known, ARGV[at + 1]) end
end

local bytes = {}
for at = firstBody, #ARGV, BODY do
  local via, part = ARGV[at], ARGV[at + 1]
  local viaPart = keyPart(via)
  bytes[via] = (bytes[via] or 0) + #ARGV[at + 6]
  if redis.call('HEXISTS', base .. 'uses', via) == 0 then redis.call('ZADD', base .. 'shown', 'GT', nowMs, via) end
  if part ~= viaPart then
    local inside = redis.call('HGET', base .. 'inside', via) or ''
    if not (' ' .. inside .. ' '):find(' ' .. part .. ' ', 1, true) then
      redis.call('HSET', base .. 'inside', via, inside .. ' ' .. part)
    end
  end
  redis.call('XADD', base .. 'outbox', nextNumber(base) .. '-1', 'post', part, 'via', viaPart,
    'readAt', ARGV[at + 2], 'nested', ARGV[at + 3], 'repostOf', ARGV[at + 4], 'quoted', ARGV[at + 5], 'body', ARGV[at + 6])
end

for via, sum in pairs(bytes) do setBytes(base, via, sum) end

local function set(name, value)
  if value ~= '' then redis.call('HSET', KEYS[1], name, value) end
end
if headMs then set('head', string.format('%.0f-%.0f', headMs, headN)) end
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'watermarkId', ARGV[3], 'watermarkKey', ARGV[4])
end
local floorKey = redis.call('HGET', KEYS[1], 'floorKey')
if ARGV[5] ~= '' and (not floorKey or isBelow(floorKey, ARGV[5])) then set('floorKey', ARGV[5]) end
set('gaps', ARGV[6])
set('lateness', ARGV[7])
set('memory', ARGV[8])
if ARGV[9] ~= '' then redis.call('SET', base .. 'sweep', ARGV[9]) end
for at, name in ipairs(COUNTS) do
  if ARGV[9 + at] ~= '0' then redis.call('HINCRBY', KEYS[1], 'count ' .. name, ARGV[9 + at]) end
end
redis.call('HSET', KEYS[1], 'version', version + 1, 'history', history)
local wasDropped = redis.call('HDEL', KEYS[1], 'dropped')
return { redis.call('HGETALL', KEYS[1]), unmadeChanges(base, ARGV[17]), wasDropped }
