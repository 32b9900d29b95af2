-- KEYS: current. ARGV: what instances' keys begin with, nowMs, `><of>:<offset>`. Gives the header of that one successor.
local nowMs = tonumber(ARGV[2])
for _, member in ipairs(listInstances(KEYS[1])) do
  local feedId = feedIdOf(member)
  if member:sub(#feedId + 1) == ARGV[3] then
    local header = readHeader(ARGV[1] .. feedId, nowMs)
    if header then return told(feedId, header) end
  end
end
return false
