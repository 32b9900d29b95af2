-- Takes turns of a quota. KEYS: the quota: when all of its turns are there again, in µs. ARGV: count, everyMicros, burst, nowMicros, keepMs.
-- Gives how many were granted.
local count, every, burst, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local kept = tonumber(redis.call('GET', KEYS[1]) or now)
-- Later than it could be: the clock was set back.
local fullAt = math.min(math.max(kept, now), now + burst * every)
local granted = math.max(0, math.min(count, burst - math.ceil((fullAt - now) / every)))
if granted > 0 or fullAt < kept then
  fullAt = fullAt + granted * every
  local ttlMs = math.ceil((fullAt - now) / 1000) + tonumber(ARGV[5])
  redis.call('SET', KEYS[1], string.format('%.0f', fullAt), 'PX', string.format('%.0f', ttlMs))
end
return granted
