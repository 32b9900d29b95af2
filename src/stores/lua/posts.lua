-- KEYS: some post. ARGV: what posts' keys begin with, how deep they nest, and ids. Gives id and value, of these posts and of all inside.
local prefix, depth = ARGV[1], tonumber(ARGV[2])
local found, seen, level = {}, {}, {}
for at = 3, #ARGV do level[#level + 1] = ARGV[at] end
for _ = 0, depth do
  local inside = {}
  for _, id in ipairs(level) do
    if not seen[id] then
      seen[id] = true
      local value = redis.call('GET', prefix .. id)
      if value then
        found[#found + 1] = id
        found[#found + 1] = value
        local head = cjson.decode(value:match('^[^\n]*'))
        for at = 3, 4 do
          if head[at] ~= '' then inside[#inside + 1] = head[at] end
        end
      end
    end
  end
  level = inside
end
return found
