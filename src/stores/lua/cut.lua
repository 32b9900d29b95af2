-- KEYS: the instance, live. ARGV: feedId, nowMs, ttlMs, offset, count, what references' keys begin with (or empty).
-- Gives the header, an instance of the cut items alone, what their hashes name, and whether references are to be kept.
local feedId, nowMs, ttlMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local offset, count, references = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local header = readHeader(KEYS[1], nowMs)
if not header then return false end

local function part(from, bytes)
  if bytes <= 0 then return '' end
  return redis.call('GETRANGE', KEYS[1], from, from + bytes - 1)
end
local first = math.min(math.max(0, offset), header.size)
local size = math.max(0, math.min(count, header.size - first))
local planeAt = HEADER_BYTES + 8 * header.size
local hashes = part(HEADER_BYTES + 8 * first, 8 * size)
local plane = part(planeAt + header.width * first, header.width * size)
local reasons = part(planeAt + header.width * header.size, header.tableBytes)
local slice = header.bytes:sub(1, 8) .. struct.pack('>I4', size) .. header.bytes:sub(13) .. hashes .. plane .. reasons

-- A life begins anew; once in a life what all of its hashes name is kept, too.
local expiresAtMs = math.max(header.expiresAtMs, nowMs + ttlMs)
local isNextLife = math.floor(expiresAtMs / ttlMs) > math.floor(header.expiresAtMs / ttlMs)
redis.call('SETRANGE', KEYS[1], HEADER_BYTES - 8, struct.pack('>d', expiresAtMs))
lengthenTtl(KEYS[1], ttlMs)
for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if feedIdOf(member) == feedId then redis.call('ZADD', KEYS[2], 'GT', nowMs, member) end
end
lengthenTtl(KEYS[2], ttlMs)
if isNextLife then keepReferences(references, KEYS[1], header.size, ttlMs) end

local named = {}
if references ~= '' then
  for at = 1, #hashes, 8 do
    local hash = hashes:sub(at, at + 7):gsub('.', function(byte) return string.format('%02x', byte:byte()) end)
    named[#named + 1] = redis.call('GET', references .. hash)
  end
end
local all = isNextLife and references == '' and part(HEADER_BYTES, 8 * header.size) or ''
return { told(feedId, header), slice, named, all }
