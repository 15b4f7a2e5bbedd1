-- Takes up to `wanted` units while the counter stays at or below the limit.
-- KEYS[1]  counter: hash of v (value) and n (version)
-- ARGV[1]  units wanted
-- ARGV[2]  limit
-- ARGV[3]  time to live while idle, ms
-- Returns  nil when the counter is unknown, else { granted, value }
local value = tonumber(redis.call('HGET', KEYS[1], 'v'))
if not value then
  return nil
end
local granted = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - value))
if granted > 0 then
  redis.call('HINCRBY', KEYS[1], 'v', granted)
  redis.call('HINCRBY', KEYS[1], 'n', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return { granted, value + granted }
