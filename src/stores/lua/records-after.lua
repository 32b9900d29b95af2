-- KEYS: a log's state. ARGV: where reading begins (as XRANGE has it), limit. Gives records, for each what removed it (records.lua),
-- whether changes of posts are not made yet, and how many there are.
local base = KEYS[1]:sub(1, -#'state' - 1)
if tonumber(ARGV[2]) <= 0 then return {} end
local records = redis.call('XRANGE', base .. 'records', ARGV[1], '+', 'COUNT', ARGV[2])
return { records, removalsOf(base, records), countChanges(base) }
