-- scheduled -> queued for tasks whose time has come. Their turns of old say nothing any more: their callers take new ones, from that
-- of the head of the lane on, or after the last one that they took so. $1 ids, $2 fences, $3 last turns, $4 the place of each among
-- those of its caller here
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
WITH input AS (
  SELECT i.id, i.fence, i.last_turn, i.place, t.lane
  FROM unnest($1::uuid[], $2::int[], $3::bigint[], $4::int[]) AS i (id, fence, last_turn, place)
  JOIN tasks t ON t.id = i.id
), heads AS MATERIALIZED ( -- once a lane, not once a task
  SELECT lane, (SELECT t.rank + 100 * t.priority FROM tasks t WHERE t.lane = i.lane AND t.state = 'queued'
      ORDER BY t.rank, t.id LIMIT 1) AS turn
  FROM (SELECT DISTINCT lane FROM input) i
)
UPDATE tasks t SET state = 'queued', deadline_at = t.expires_at,
  rank = GREATEST(COALESCE(h.turn, (extract(epoch FROM now()) * 1e6)::bigint), i.last_turn) + i.place - 100 * t.priority
FROM input i JOIN heads h ON h.lane = i.lane
WHERE t.id = i.id AND t.fence = i.fence AND t.state || '' = 'scheduled' AND t.run_at <= now()
RETURNING t.id, t.lane, t.priority, COALESCE(t.caller, '') AS caller, (t.rank + 100 * t.priority)::float8 AS turn
