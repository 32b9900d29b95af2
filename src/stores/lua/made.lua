-- KEYS: a log's state. ARGV: the last change of posts that was made, with all before it; keepMs. Those that were made stay for so
-- long, to be made again where a failover lost them.
local base = KEYS[1]:sub(1, -#'state' - 1)
local made = redis.call('HGET', KEYS[1], 'made')
if not made or isPositionBelow(made, ARGV[1]) then redis.call('HSET', KEYS[1], 'made', ARGV[1]) end
local oldest = tonumber(redis.call('TIME')[1]) * 1000 - tonumber(ARGV[2])
redis.call('XTRIM', base .. 'outbox', 'MINID', string.format('%.0f', math.min(tonumber(ARGV[1]:match('^%d+')) + 1, oldest)))
