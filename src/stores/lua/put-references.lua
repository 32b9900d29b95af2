-- KEYS: references. ARGV: ttlMs, then for each its key and its post id. Gives for each 0 when it stands for another key, else 1.
-- A value is `=<post id>`, or where the key is another `<bytes of key>:<key><post id>`. One that is there is written anew once a
-- twentieth of its time has passed: feeds that are made one after the other name the same posts.
local ttlMs = tonumber(ARGV[1])
local results = {}
for at, name in ipairs(KEYS) do
  local key, postId = ARGV[2 * at], ARGV[2 * at + 1]
  local start = #key .. ':' .. key
  local value = redis.call('GET', name)
  if value and value ~= '=' .. key and value:sub(1, #start) ~= start then
    results[at] = 0
  else
    local leftMs = redis.call('PTTL', name)
    local new = key == postId and '=' .. key or start .. postId
    if value ~= new or leftMs < ttlMs * 19 / 20 then redis.call('SET', name, new, 'PX', math.max(leftMs, ttlMs)) end
    results[at] = 1
  end
end
return results
