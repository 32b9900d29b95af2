-- KEYS: the instance, current. ARGV: feedId, nowMs, ttlMs, offset, count, what references' keys begin with (or empty), from where on
-- hashes before the offset are wanted (or empty).
return cutInstance(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]))
