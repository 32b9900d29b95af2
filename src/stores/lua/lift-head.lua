-- KEYS: a log's state. ARGV: a position. Moves the head there, if that is forward.
local head = redis.call('HGET', KEYS[1], 'head')
if not head or isPositionBelow(head, ARGV[1]) then redis.call('HSET', KEYS[1], 'head', ARGV[1]) end
