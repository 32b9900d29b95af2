-- Cuts `count` items from `offset` on out of an instance, and lengthens its life. Gives its header, an instance of the cut items
-- alone, what their hashes name, all hashes where the caller has to keep what they name, and those from `hashesFrom` (nil: none)
-- to the cut. False when it is gone.
local function cutInstance(key, current, feedId, nowMs, ttlMs, offset, count, references, hashesFrom)
  local header = readHeader(key, nowMs)
  if not header then return false end

  local function part(from, bytes)
    if bytes <= 0 then return '' end
    return redis.call('GETRANGE', key, from, from + bytes - 1)
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
  -- A Redis that is full and evicts nothing refuses these: the page is read all the same.
  redis.pcall('SETRANGE', key, HEADER_BYTES - 8, struct.pack('>d', expiresAtMs))
  lengthenTtl(key, ttlMs)
  for _, member in ipairs(listInstances(current)) do
    if feedIdOf(member) == feedId then redis.pcall('ZADD', current, 'GT', nowMs, member) end
  end
  lengthenTtl(current, ttlMs)
  if isNextLife then keepReferences(references, key, header.size, ttlMs) end

  local named = {}
  if references ~= '' then
    for at = 1, #hashes, 8 do
      named[#named + 1] = redis.call('GET', references .. hexOf(hashes:sub(at, at + 7)))
    end
  end
  local all = isNextLife and references == '' and part(HEADER_BYTES, 8 * header.size) or ''
  local from = math.max(0, hashesFrom or first)
  local earlier = part(HEADER_BYTES + 8 * from, 8 * (first - from))
  return { told(feedId, header), slice, named, all, earlier }
end
