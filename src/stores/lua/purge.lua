-- KEYS: live, the alias. ARGV: what instances' keys begin with. Gives how many instances were removed.
local removed = 0
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  removed = removed + redis.call('DEL', ARGV[1] .. feedIdOf(member))
end
redis.call('DEL', KEYS[1], KEYS[2])
return removed
