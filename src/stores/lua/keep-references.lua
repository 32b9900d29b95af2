-- KEYS: references. ARGV: ms that each must live at least, and ms that one lives which would not.
local leastMs = tonumber(ARGV[1])
for _, name in ipairs(KEYS) do
  local leftMs = redis.call('PTTL', name)
  if leftMs >= 0 and leftMs < leastMs then redis.pcall('PEXPIRE', name, ARGV[2]) end
end
