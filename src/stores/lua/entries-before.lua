-- KEYS: a log's state. ARGV: the last position, limit, and where reading begins: a sortAt and a post id, or '+inf'.
-- Gives entry records by (sortAt, post id) descending, nothing, whether changes of posts are not made yet, and how
-- many there are.
local base = KEYS[1]:sub(1, -#'state' - 1)
local upTo, limit, beginSort, beginId = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local CHUNK = 200
local entries, offset = {}, 0
while #entries < limit do
  local chunk = redis.call('ZREVRANGEBYSCORE', base .. 'time', beginSort, '-inf', 'WITHSCORES', 'LIMIT', offset, CHUNK)
  for at = 1, #chunk, 2 do
    local isPast = beginId and tonumber(chunk[at + 1]) == tonumber(beginSort) and not isBelow(chunk[at], beginId)
    local position = not isPast and #entries < limit and redis.call('HGET', base .. 'live', chunk[at])
    if position and not isPositionBelow(upTo, position) then entries[#entries + 1] = recordAt(base, position) end
  end
  if #chunk < 2 * CHUNK then break end
  offset = offset + CHUNK
end
return { entries, {}, countChanges(base) }
