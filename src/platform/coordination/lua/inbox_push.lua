-- Appends items to an inbox while it holds fewer than the limit.
-- KEYS[1]  inbox: list, oldest first
-- ARGV[1]  limit
-- ARGV[2]  time to live while idle, ms
-- ARGV[3..] items
-- Returns  how many items, from the first on, were taken
local room = tonumber(ARGV[1]) - redis.call('LLEN', KEYS[1])
local taken = math.max(0, math.min(room, #ARGV - 2))
for i = 3, taken + 2 do
  redis.call('RPUSH', KEYS[1], ARGV[i])
end
if taken > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return taken
