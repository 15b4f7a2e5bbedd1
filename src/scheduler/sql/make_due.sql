-- scheduled -> queued for tasks whose time has come. $1 ids, $2 fences. They take turns from that of the head of their lane on:
-- theirs of old say nothing any more.
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
WITH input AS (
  SELECT i.id, i.fence, row_number() OVER (PARTITION BY t.lane ORDER BY t.priority DESC, i.ord) AS place, t.lane
  FROM unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS i (id, fence, ord) JOIN tasks t ON t.id = i.id
), heads AS (
  SELECT lane, (SELECT t.rank + 100 * t.priority FROM tasks t WHERE t.lane = i.lane AND t.state = 'queued'
      ORDER BY t.rank, t.id LIMIT 1) AS turn
  FROM (SELECT DISTINCT lane FROM input) i
)
UPDATE tasks t SET state = 'queued', deadline_at = t.expires_at,
  rank = COALESCE(h.turn, (extract(epoch FROM now()) * 1e6)::bigint) + i.place - 100 * t.priority
FROM input i JOIN heads h ON h.lane = i.lane
WHERE t.id = i.id AND t.fence = i.fence AND t.state || '' = 'scheduled' AND t.run_at <= now()
RETURNING t.id, t.lane
