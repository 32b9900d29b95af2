-- For each record 1 when it is an entry that was removed.
local function removedOf(base, records)
  local removed = {}
  for at = 1, #records, 1000 do
    local positions = {}
    for n = at, math.min(#records, at + 999) do positions[#positions + 1] = records[n][1] end
    for _, is in ipairs(redis.call('SMISMEMBER', base .. 'removed', unpack(positions))) do removed[#removed + 1] = is end
  end
  return removed
end

local function recordAt(base, position)
  return redis.call('XRANGE', base .. 'records', position, position)[1]
end
