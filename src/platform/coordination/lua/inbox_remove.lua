-- Takes items out of an inbox, wherever they stand and however often.
-- KEYS[1]  inbox: list, oldest first
-- ARGV     items
-- Returns  how many entries were removed
local removed = 0
for i = 1, #ARGV do
  removed = removed + redis.call('LREM', KEYS[1], 0, ARGV[i])
end
return removed
