-- Removes a value while it is still the expected one.
-- KEYS[1]  the value
-- ARGV[1]  the expected value
-- Returns  1 when it was removed, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
