-- KEYS: current. ARGV: what instances' keys begin with. Gives how many instances were removed.
local removed = 0
for _, member in ipairs(listInstances(KEYS[1])) do
  removed = removed + redis.call('DEL', ARGV[1] .. feedIdOf(member))
end
redis.call('DEL', KEYS[1])
return removed
