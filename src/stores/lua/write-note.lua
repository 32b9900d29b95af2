-- Writes a note. KEYS: the note, `<version> <history> <body>`. ARGV: body, expectedVersion (or empty). Gives its new version, 0 when it
-- was another.
local history = replicationId()
local version, known, body = 0, history, nil
local value = redis.call('GET', KEYS[1])
if value then
  version, known, body = value:match('^(%d+) (%x+) (.*)$')
  version = tonumber(version)
end
local function write(text)
  redis.call('SET', KEYS[1], string.format('%.0f %s %s', version, history, text))
end
-- What a failover lost may have had the versions that come next: who has read one of those writes on nothing any more.
if known ~= history then
  version = version + 1000
  write(body)
end
if ARGV[2] ~= '' and tonumber(ARGV[2]) ~= version then return 0 end
version = version + 1
write(ARGV[1])
return version
