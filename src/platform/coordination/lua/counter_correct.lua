-- Sets a counter unless it moved since its version was read.
-- KEYS[1]  counter: hash of v (value) and n (version)
-- ARGV[1]  value
-- ARGV[2]  the version that was read
-- ARGV[3]  time to live while idle, ms
-- Returns  1 when it was corrected, else 0
if redis.call('HGET', KEYS[1], 'n') ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'v', ARGV[1])
redis.call('HINCRBY', KEYS[1], 'n', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
