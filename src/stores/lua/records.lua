-- For each record the position of the one that removed it, or nothing; 0-0 where an earlier release did not keep it.
local function removalsOf(base, records)
  local removals = {}
  for at = 1, #records, 1000 do
    local positions = {}
    for n = at, math.min(#records, at + 999) do positions[#positions + 1] = records[n][1] end
    local unplaced = redis.call('SMISMEMBER', base .. 'removed', unpack(positions))
    for n, removal in ipairs(redis.call('HMGET', base .. 'removals', unpack(positions))) do
      removals[#removals + 1] = removal or unplaced[n] == 1 and '0-0'
    end
  end
  return removals
end

local function recordAt(base, position)
  return redis.call('XRANGE', base .. 'records', position, position)[1]
end
