-- KEYS: a log's state. ARGV: ZREVRANGEBYLEX's highest and lowest `<orderKey>\0<post id>`, limit. Gives post id, orderKey and
-- upstreamId of the known entries, not removed, highest first.
local base = KEYS[1]:sub(1, -#'state' - 1)
local limit = tonumber(ARGV[3])
local CHUNK = 200
local found, offset = {}, 0
while #found < 3 * limit do
  local chunk = redis.call('ZREVRANGEBYLEX', base .. 'order', ARGV[1], ARGV[2], 'LIMIT', offset, CHUNK)
  for _, member in ipairs(chunk) do
    local orderKey, postId = member:match('^(%Z*)%z(.*)$')
    local known = #found < 3 * limit and readKnown(base, postId)
    if known and known[6] == '' then
      found[#found + 1] = postId
      found[#found + 1] = orderKey
      found[#found + 1] = known[1]
    end
  end
  if #chunk < CHUNK then break end
  offset = offset + CHUNK
end
return found
