-- KEYS: the reference. ARGV: its key, its post id, ttlMs. 0: it stands for another key.
-- Its value is `=<post id>`, or where the key is another `<bytes of key>:<key><post id>`.
local key, postId = ARGV[1], ARGV[2]
local start = #key .. ':' .. key
local value = redis.call('GET', KEYS[1])
if value and value ~= '=' .. key and value:sub(1, #start) ~= start then return 0 end
local ttlMs = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3]))
redis.call('SET', KEYS[1], key == postId and '=' .. key or start .. postId, 'PX', ttlMs)
return 1
