-- Reserves a slot for each delivery, in order, while the agent holds fewer than the limit. A delivery that
-- holds one already counts as granted and keeps its time.
-- KEYS[1]  slots: hash of delivery id -> ms since 1970; the field '' marks a set that is known
-- ARGV[1]  limit
-- ARGV[2]  time to live while idle, ms
-- ARGV[3..] delivery ids
-- Returns  nil when the slots are unknown, else how many ids, from the first on, were granted
if redis.call('PEXPIRE', KEYS[1], ARGV[2]) == 0 then
  return nil
end
local limit = tonumber(ARGV[1])
local held = redis.call('HLEN', KEYS[1]) - 1
local now = redis.call('TIME')
local now_ms = string.format('%s%03d', now[1], math.floor(now[2] / 1000))
local granted = 0
for i = 3, #ARGV do
  if held < limit then
    held = held + redis.call('HSETNX', KEYS[1], ARGV[i], now_ms)
  elseif redis.call('HEXISTS', KEYS[1], ARGV[i]) == 0 then
    break
  end
  granted = granted + 1
end
return granted
