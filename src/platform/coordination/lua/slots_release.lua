-- Frees the slots of deliveries.
-- KEYS[1]  slots: hash of delivery id -> ms since 1970; the field '' marks a set that is known
-- ARGV[1]  time to live while idle, ms
-- ARGV[2..] delivery ids, none of them ''
-- Returns  how many slots became free
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local freed = 0
for i = 2, #ARGV do
  freed = freed + redis.call('HDEL', KEYS[1], ARGV[i])
end
return freed
