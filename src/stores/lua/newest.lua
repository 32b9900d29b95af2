-- KEYS: current. ARGV: what instances' keys begin with, nowMs. Gives the header of the instance generated last.
local nowMs = tonumber(ARGV[2])
local newest, newestId
for _, member in ipairs(listInstances(KEYS[1])) do
  local feedId = feedIdOf(member)
  local header = readHeader(ARGV[1] .. feedId, nowMs)
  if header and (not newest or header.generatedAtMs >= newest.generatedAtMs) then newest, newestId = header, feedId end
end
return newest and told(newestId, newest) or false
