-- KEYS: current. ARGV: what instances' keys begin with, nowMs. Gives the alias, its live instance's header, and when that expires.
local prefix, nowMs = ARGV[1], tonumber(ARGV[2])
local alias = readAlias(KEYS[1], nowMs)
if not alias then return {} end
local header = readHeader(prefix .. alias, nowMs)
if not header then return { alias } end
return { alias, told(alias, header), string.format('%.17g', header.expiresAtMs) }
