-- KEYS: the alias. ARGV: what instances' keys begin with, nowMs. Gives the alias and its live instance's header.
local nowMs = tonumber(ARGV[2])
local alias = readAlias(KEYS[1], nowMs)
if not alias then return {} end
local header = readHeader(ARGV[1] .. alias, nowMs)
if not header then return { alias } end
return { alias, told(alias, header) }
