/*
 * The scripts of RedisDedup. In a module rather than in files: the package is one file as CommonJS, and reads
 * nothing at run time. KEYS: the task (a hash: fence, owner, state, result) and its hold, which lives as long as
 * its holder renews it. ARGV: fence, owner, and what each script names.
 */

/** ARGV 3 ms of the hold, 4 ms that the task is remembered, 5 whether it is idempotent. Answers as `Claim`. */
export const BEGIN = `
local known = redis.call('HMGET', KEYS[1], 'fence', 'owner', 'state', 'result')
local fence = tonumber(ARGV[1])
if known[1] then
  if known[3] == 'done' then return { 'done', known[4] } end
  local before = tonumber(known[1])
  if before > fence then return { 'superseded' } end
  if before == fence and (known[2] ~= ARGV[2] or known[3] ~= 'running') then return { 'superseded' } end
  if before < fence and known[3] ~= 'released' and ARGV[5] ~= '1' then
    if known[3] == 'running' and redis.call('EXISTS', KEYS[2]) == 1 then return { 'busy' } end
    return { 'unknown' }
  end
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
redis.call('HSET', KEYS[1], 'owner', ARGV[2])
redis.call('HSET', KEYS[1], 'state', 'running')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return { 'run' }
`;

/** ARGV 3 state, 4 result, 5 ms that the task is remembered. Answers whether the key was this delivery's. */
export const END = `
local known = redis.call('HMGET', KEYS[1], 'fence', 'owner')
if known[1] ~= ARGV[1] or known[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[3])
redis.call('HSET', KEYS[1], 'result', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('DEL', KEYS[2])
return 1
`;

/** ARGV 3 ms of the hold. Answers whether there was something of this delivery's to renew. */
export const RENEW = `
local known = redis.call('HMGET', KEYS[1], 'fence', 'owner', 'state')
if known[1] ~= ARGV[1] or known[2] ~= ARGV[2] or known[3] ~= 'running' then return 0 end
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return 1
`;
