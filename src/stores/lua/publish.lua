-- KEYS: the new instance, the alias, live. ARGV: feedId, nowMs, ttlMs, keep, the instance's bytes, what instances' keys begin
-- with, what references' keys begin with (or empty), and either `alias`, aliasTtlMs, what it replaces (or empty), or
-- `successor`, `><of>:<offset>`. Gives the header of the winner.
local feedId, nowMs, ttlMs, keep, bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local instances, references = ARGV[6], ARGV[7]
local current = readAlias(KEYS[2], nowMs)

local member = feedId
if ARGV[8] == 'successor' then
  member = feedId .. ARGV[9]
  for _, other in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    local otherId = feedIdOf(other)
    local header = other:sub(#otherId + 1) == ARGV[9] and readHeader(instances .. otherId, nowMs)
    if header then return told(otherId, header) end
  end
else
  local winner = current and readHeader(instances .. current, nowMs)
  if winner and current ~= ARGV[10] then return told(current, winner) end
  local aliasTtlMs = tonumber(ARGV[9])
  redis.call('SET', KEYS[2], string.format('%s %.0f', feedId, nowMs + aliasTtlMs), 'PX', aliasTtlMs)
  current = feedId
end

if not readHeader(KEYS[1], nowMs) then redis.call('SET', KEYS[1], bytes, 'PX', ttlMs) end
local mine = readHeader(KEYS[1], nowMs)
if redis.call('ZSCORE', KEYS[3], member) == false then redis.call('ZADD', KEYS[3], nowMs, member) end
lengthenTtl(KEYS[3], ttlMs)
keepReferences(references, KEYS[1], mine.size, ttlMs)

-- The one read longest ago goes first; never the current one, nor the one just made.
local live = {}
for _, other in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  if readHeader(instances .. feedIdOf(other), nowMs) then
    live[#live + 1] = other
  else
    redis.call('ZREM', KEYS[3], other)
  end
end
local excess = #live - keep
for _, other in ipairs(live) do
  local otherId = feedIdOf(other)
  if excess > 0 and otherId ~= feedId and otherId ~= current then
    redis.call('ZREM', KEYS[3], other)
    redis.call('DEL', instances .. otherId)
    excess = excess - 1
  end
end
return told(feedId, mine)
