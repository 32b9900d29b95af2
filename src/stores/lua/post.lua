-- A post is one value: a line of JSON (readAtMs, 0, the ids of what it reposts and quotes or '', and by `<log> <via>` the number of
-- the last change of that showing, negative once it ended), then its body without those two ids, empty when it was removed. Ids and
-- logs are spelled as parts of keys. Where the second is not 0 an earlier release took it for gone, on a single answer: its body is
-- as good as lost until it is read again.
local function readPost(key)
  local value = redis.call('GET', key)
  if not value then return nil end
  local line, body = value:match('^([^\n]*)\n(.*)$')
  local head = cjson.decode(line)
  return {
    readAtMs = head[1], repostOf = head[3], quoted = head[4], shown = head[5], body = head[2] == 0 and body or '',
  }
end

local function isShown(post)
  for _, number in pairs(post.shown) do
    if number > 0 then return true end
  end
  return false
end

-- What a log shows stays; the rest lives for so long.
local function writePost(key, post, keepMs)
  local line = cjson.encode({ post.readAtMs, 0, post.repostOf, post.quoted, post.shown })
  local value = line .. '\n' .. post.body
  if isShown(post) then redis.call('SET', key, value) else redis.call('SET', key, value, 'PX', keepMs) end
end
