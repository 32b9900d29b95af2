-- One step of a trim. KEYS: a log's state. ARGV: beforeMs, keepEntries, keepKnown, how many of a kind one step drops, keepBytes. Gives 1
-- when there is more to drop, and whether changes of posts are not made yet.
local base = KEYS[1]:sub(1, -#'state' - 1)
local isMore = trimLog(base, {
  beforeMs = tonumber(ARGV[1]), keepEntries = tonumber(ARGV[2]), keepKnown = tonumber(ARGV[3]),
  step = tonumber(ARGV[4]), keepBytes = tonumber(ARGV[5]), lost = 0,
})
return { isMore and 1 or 0, (countChanges(base)) }
