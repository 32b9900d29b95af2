-- KEYS: a log's state. ARGV: uris. Gives the entry records of each, for each what removed it (records.lua), whether changes
-- of posts are not made yet, and how many there are.
local base = KEYS[1]:sub(1, -#'state' - 1)
local records = {}
for _, uri in ipairs(ARGV) do
  for position in (redis.call('HGET', base .. 'uris', uri) or ''):gmatch('%S+') do
    records[#records + 1] = recordAt(base, position)
  end
end
return { records, removalsOf(base, records), countChanges(base) }
