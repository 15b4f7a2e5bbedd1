-- Adds to a counter that is known; the result is never below 0.
-- KEYS[1]  counter: hash of v (value) and n (version)
-- ARGV[1]  delta
-- ARGV[2]  time to live while idle, ms
-- Returns  1 when the counter is known, else 0
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
if redis.call('HINCRBY', KEYS[1], 'v', ARGV[1]) < 0 then
  redis.call('HSET', KEYS[1], 'v', 0)
end
redis.call('HINCRBY', KEYS[1], 'n', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
