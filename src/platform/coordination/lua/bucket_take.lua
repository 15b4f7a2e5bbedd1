-- Takes tokens from a bucket that refills at a steady rate, by the clock of Redis; missing ones become a debt.
-- The arithmetic is that of takeTokens in core/token-bucket.ts.
-- KEYS[1]  bucket: hash of t (tokens, below 0 a debt) and a (at, ms); absent: full
-- ARGV[1]  tokens wanted
-- ARGV[2]  capacity
-- ARGV[3]  tokens a second
-- ARGV[4]  overdraft
-- Returns  { granted, owed }
local wanted, capacity, rate, overdraft =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local held = redis.call('HMGET', KEYS[1], 't', 'a')
local at = tonumber(held[2]) or now
local since = math.max(0, now - at)
local tokens = math.min(capacity, (tonumber(held[1]) or capacity) + since * rate / 1000)
local granted = math.max(0, math.min(wanted, math.floor(tokens)))
local debt = math.max(0, math.min(wanted - granted, math.floor(overdraft + tokens - granted)))
local left = tokens - granted - debt
redis.call('HSET', KEYS[1], 't', string.format('%.6f', left), 'a', string.format('%.0f', math.max(now, at)))
-- Full again by then, which is what absent means.
redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - left) / rate * 1000) + 1000)
return { granted, math.max(0, math.ceil(-left)) }
