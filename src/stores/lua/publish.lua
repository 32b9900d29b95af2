-- KEYS: the new instance, current. ARGV: feedId, nowMs, ttlMs, keep, the instance's bytes, what instances' keys begin
-- with, and either `alias`, aliasTtlMs, what it replaces (or empty), or `successor`, `><of>:<offset>`. Gives the header of
-- the winner.
local feedId, nowMs, ttlMs, keep, bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local instances = ARGV[6]
local current = readAlias(KEYS[2], nowMs)

local member = feedId
if ARGV[7] == 'successor' then
  member = feedId .. ARGV[8]
  for _, other in ipairs(listInstances(KEYS[2])) do
    local otherId = feedIdOf(other)
    local header = other:sub(#otherId + 1) == ARGV[8] and readHeader(instances .. otherId, nowMs)
    if header then return told(otherId, header) end
  end
else
  local winner = current and readHeader(instances .. current, nowMs)
  if winner and current ~= ARGV[9] then return told(current, winner) end
  current = feedId
end

-- First of all, so that a Redis that is full refuses it before anything else was changed.
if not readHeader(KEYS[1], nowMs) then redis.call('SET', KEYS[1], bytes, 'PX', ttlMs) end
local mine = readHeader(KEYS[1], nowMs)
if ARGV[7] == 'alias' then writeAlias(KEYS[2], feedId, nowMs + tonumber(ARGV[8])) end
if redis.call('ZSCORE', KEYS[2], member) == false then redis.call('ZADD', KEYS[2], nowMs, member) end
lengthenTtl(KEYS[2], ttlMs)

-- The one read longest ago goes first; never the current one, nor the one just made.
local live = {}
for _, other in ipairs(listInstances(KEYS[2])) do
  if readHeader(instances .. feedIdOf(other), nowMs) then
    live[#live + 1] = other
  else
    redis.call('ZREM', KEYS[2], other)
  end
end
local excess = #live - keep
for _, other in ipairs(live) do
  local otherId = feedIdOf(other)
  if excess > 0 and otherId ~= feedId and otherId ~= current then
    redis.call('ZREM', KEYS[2], other)
    redis.call('DEL', instances .. otherId)
    excess = excess - 1
  end
end
return told(feedId, mine)
