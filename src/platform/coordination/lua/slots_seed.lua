-- Gives unknown slots their deliveries; they count as reserved now.
-- KEYS[1]  slots: hash of delivery id -> ms since 1970; the field '' marks a set that is known
-- ARGV[1]  time to live while idle, ms
-- ARGV[2..] delivery ids, none of them ''
-- Returns  1 when seeded, 0 when the slots were known already
if redis.call('HSETNX', KEYS[1], '', 1) == 0 then
  return 0
end
local now = redis.call('TIME')
local now_ms = string.format('%s%03d', now[1], math.floor(now[2] / 1000))
for i = 2, #ARGV do
  redis.call('HSETNX', KEYS[1], ARGV[i], now_ms)
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
