-- KEYS: the post. ARGV: keepMs, `<log> <via>`, the number of this change, 1 when the post's content goes if no log shows it now.
local post = readPost(KEYS[1])
if not post or math.abs(post.shown[ARGV[2]] or 0) >= tonumber(ARGV[3]) then return end
-- Changes that ended long ago overtake nobody any more.
for showing, number in pairs(post.shown) do
  if number < 0 then post.shown[showing] = nil end
end
post.shown[ARGV[2]] = -tonumber(ARGV[3])
if ARGV[4] == '1' and not isShown(post) then post.body, post.repostOf, post.quoted = '', '', '' end
writePost(KEYS[1], post, tonumber(ARGV[1]))
