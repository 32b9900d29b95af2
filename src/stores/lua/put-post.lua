-- KEYS: the post. ARGV: keepMs, readAtMs, 1 when it was nested in another, what it reposts, what it quotes, its body, and where a
-- log showed it `<log> <via>` and the number of that change.
local keepMs, readAtMs, isNested = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local showing, number = ARGV[7], tonumber(ARGV[8])
local post = readPost(KEYS[1])
-- A change that a later one overtook.
if post and showing and math.abs(post.shown[showing] or 0) >= number then return end

if not post then
  post = { readAtMs = readAtMs, repostOf = ARGV[4], quoted = ARGV[5], shown = {}, body = ARGV[6] }
elseif post.body == '' or readAtMs >= post.readAtMs then
  -- Upstreams show nested posts in a shallow form: that it names no post inside does not say that there is none.
  local keepsInside = isNested and post.body ~= ''
  if ARGV[4] ~= '' or not keepsInside then post.repostOf = ARGV[4] end
  if ARGV[5] ~= '' or not keepsInside then post.quoted = ARGV[5] end
  post.readAtMs, post.body = readAtMs, ARGV[6]
end
if showing then post.shown[showing] = number end
writePost(KEYS[1], post, keepMs)
