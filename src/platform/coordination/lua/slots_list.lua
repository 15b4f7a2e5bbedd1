-- Lists the held slots with their age.
-- KEYS[1]  slots: hash of delivery id -> ms since 1970; the field '' marks a set that is known
-- Returns  nil when the slots are unknown, else { id, age in ms, id, age in ms, ... }
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then
  return nil
end
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local listed = {}
for i = 1, #fields, 2 do
  if fields[i] ~= '' then
    listed[#listed + 1] = fields[i]
    listed[#listed + 1] = math.max(0, now_ms - fields[i + 1])
  end
end
return listed
