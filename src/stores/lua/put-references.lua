-- KEYS: references. ARGV: ttlMs, then for each its key and its post id. Gives for each 0 when it stands for another key, else 1.
-- A value is `=<post id>`, or where the key is another `<bytes of key>:<key><post id>`.
local results = {}
for at, name in ipairs(KEYS) do
  local key, postId = ARGV[2 * at], ARGV[2 * at + 1]
  local start = #key .. ':' .. key
  local value = redis.call('GET', name)
  if value and value ~= '=' .. key and value:sub(1, #start) ~= start then
    results[at] = 0
  else
    -- What is there for so long is not written again. A second less is as long, asked for by another clock.
    local new, ttlMs, wantedMs = key == postId and '=' .. key or start .. postId, redis.call('PTTL', name), tonumber(ARGV[1])
    if value ~= new or ttlMs < wantedMs - 1000 then redis.call('SET', name, new, 'PX', math.max(ttlMs, wantedMs)) end
    results[at] = 1
  end
end
return results
