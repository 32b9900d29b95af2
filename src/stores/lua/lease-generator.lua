-- KEYS: marks (a hash: number to ms; `replid`: the history they belong to), pause. ARGV: the holder, its number (or empty), ttlMs,
-- markMs, pauseMs, what leases' keys begin with. Gives the number and its mark before, or why there is none.
local marks, pause = KEYS[1], KEYS[2]
local holder, wanted, ttlMs, markMs, pauseMs, leases = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

-- A primary of another replication id may not know the newest marks and leases: those end by themselves meanwhile.
local replid = replicationId()
local known = redis.call('HGET', marks, 'replid')
if known ~= replid then
  for number = 0, 255 do
    local mark = redis.call('HGET', marks, number)
    if mark then redis.call('HSET', marks, number, string.format('%.0f', tonumber(mark) + pauseMs)) end
  end
  redis.call('HSET', marks, 'replid', replid)
  redis.call('SET', pause, '1', 'PX', pauseMs)
end
if redis.call('EXISTS', pause) == 1 then return 'paused' end

local function lease(number)
  local mark = tonumber(redis.call('HGET', marks, number) or 0)
  redis.call('SET', leases .. number, holder, 'PX', ttlMs)
  redis.call('HSET', marks, number, string.format('%.0f', math.max(mark, markMs)))
  return { number, string.format('%.0f', mark) }
end

if wanted ~= '' then
  local other = redis.call('GET', leases .. wanted)
  if not other or other == holder then return lease(wanted) end
end
local best, bestMark
for number = 0, 255 do
  if redis.call('EXISTS', leases .. number) == 0 then
    local mark = tonumber(redis.call('HGET', marks, number) or 0)
    if not best or mark < bestMark then best, bestMark = number, mark end
  end
end
return best and lease(best) or 'none free'
