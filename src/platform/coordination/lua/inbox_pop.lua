-- Hands out the oldest items of an inbox.
-- KEYS[1]  inbox: list, oldest first
-- ARGV[1]  how many at most
-- Returns  the items
local max = tonumber(ARGV[1])
if max == 0 then
  return {}
end
local items = redis.call('LRANGE', KEYS[1], 0, max - 1)
redis.call('LTRIM', KEYS[1], #items, -1)
return items
