-- One step of dropping a log. KEYS: a log's state. ARGV: how many of a kind one step drops. Gives 1 when there is more to drop, whether
-- changes of posts are not made yet, and 1 when there was such a log.
local base = KEYS[1]:sub(1, -#'state' - 1)
local isLog = redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], 'dropped') == 0
if not isLog then return { 0, 0, redis.call('DEL', base .. 'status') } end

local isMore = trimLog(base, {
  beforeMs = math.huge, keepEntries = 0, keepKnown = 0, step = tonumber(ARGV[1]), keepBytes = math.huge, lost = math.huge,
})
local pending = countChanges(base)
if isMore or pending > 0 then return { 1, pending, 1 } end

-- What stays: no version that was read before fits, no position is given twice, and no change of a post has an older one's number.
local state = { 'dropped', 1, 'version', tonumber(redis.call('HGET', KEYS[1], 'version') or 0) + 1 }
for _, name in ipairs({ 'history', 'head', 'trimmedTo', 'changes', 'made' }) do
  local value = redis.call('HGET', KEYS[1], name)
  if value then
    state[#state + 1] = name
    state[#state + 1] = value
  end
end
local PARTS = 'state records live time removals removed uris uses known order shown bytes inside outbox sweep status'
for part in PARTS:gmatch('%S+') do redis.call('DEL', base .. part) end
redis.call('HSET', KEYS[1], unpack(state))
return { 0, 0, 1 }
