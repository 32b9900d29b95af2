-- KEYS: current. ARGV: what instances' keys begin with, nowMs, and to cut its first page at once ttlMs, count and what
-- references' keys begin with (or empty). Gives the alias, its live instance's header, and the cut.
local prefix, nowMs = ARGV[1], tonumber(ARGV[2])
local alias = readAlias(KEYS[1], nowMs)
if not alias then return {} end
local header = readHeader(prefix .. alias, nowMs)
if not header then return { alias } end
if not ARGV[3] then return { alias, told(alias, header) } end
local cut = cutInstance(prefix .. alias, KEYS[1], alias, nowMs, tonumber(ARGV[3]), 0, tonumber(ARGV[4]), ARGV[5])
return { alias, told(alias, header), cut }
