-- Lengthens the life of an instance that was read. KEYS: the instance, current. ARGV: feedId, nowMs, ttlMs. Gives 1 once a life, when the
-- caller has to keep what its hashes name.
local feedId, nowMs, ttlMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local header = readHeader(KEYS[1], nowMs)
if not header then return 0 end
local expiresAtMs = math.max(header.expiresAtMs, nowMs + ttlMs)
-- A Redis that is full and evicts nothing refuses these: the page is read all the same.
redis.pcall('SETRANGE', KEYS[1], HEADER_BYTES - 8, struct.pack('>d', expiresAtMs))
lengthenTtl(KEYS[1], ttlMs)
for _, member in ipairs(listInstances(KEYS[2])) do
  if feedIdOf(member) == feedId then redis.pcall('ZADD', KEYS[2], 'GT', nowMs, member) end
end
lengthenTtl(KEYS[2], ttlMs)
return math.floor(expiresAtMs / ttlMs) > math.floor(header.expiresAtMs / ttlMs) and 1 or 0
