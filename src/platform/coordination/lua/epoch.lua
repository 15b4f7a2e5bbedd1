-- Names the present life of this Redis: another value means that what was kept may be gone or stale. The run
-- id of the server is part of it, since a restart from an old snapshot or a failover to a replica that lags
-- brings back an epoch key of before the loss.
-- KEYS[1]  epoch
-- ARGV[1]  value to set when there is none
-- Returns  the epoch
local epoch = redis.call('GET', KEYS[1])
if not epoch then
  epoch = ARGV[1]
  redis.call('SET', KEYS[1], epoch)
end
-- pcall: some hosted services do not allow INFO; the epoch key alone must do there.
local info = redis.pcall('INFO', 'server')
local run_id = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
return epoch .. ':' .. run_id
