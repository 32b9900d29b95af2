-- KEYS: the post. ARGV: keepMs, when the request was sent.
local post, atMs = readPost(KEYS[1]), tonumber(ARGV[2])
if not post or post.readAtMs > atMs then return end
post.goneAtMs = math.max(post.goneAtMs, atMs)
writePost(KEYS[1], post, tonumber(ARGV[1]))
