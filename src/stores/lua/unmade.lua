-- KEYS: a log's state. ARGV: count. Gives the first changes of posts that are not made yet.
return unmadeChanges(KEYS[1]:sub(1, -#'state' - 1), ARGV[1])
