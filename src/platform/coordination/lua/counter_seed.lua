-- Gives an unknown counter its value. The version starts at the time in microseconds, so that a version read
-- before a loss is never met again after it (a counter moves less than once a microsecond).
-- KEYS[1]  counter: hash of v (value) and n (version)
-- ARGV[1]  value
-- ARGV[2]  time to live while idle, ms
-- Returns  1 when it was seeded, 0 when it was known already
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'n', string.format('%s%06d', now[1], now[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
