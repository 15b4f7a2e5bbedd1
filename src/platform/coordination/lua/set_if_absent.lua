-- Sets a value with a time to live unless the key is present.
-- KEYS[1]  the value
-- ARGV[1]  the value to set
-- ARGV[2]  its time to live, ms
-- Returns  nil when this call set it, else the value that is present
local present = redis.call('GET', KEYS[1])
if present then
  return present
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return nil
