-- Tasks that wait in a lane go to another one, where their callers take turns from that of its head on. What a pass has locked
-- is being offered, and stays. $1 lane, $2 lane where they go, $3 its label, $4 how many, $5 what is noted of a fallback: then each
-- goes once, if it has waited for $6 ms (null: the lane has another name now). $7 who took turns there like this, $8 the last turns
-- of those (see core/fair-share.ts). $9 whom to tell of a fallback (null: nobody), $10 and $11 how long and how often that is tried
WITH waiting AS (
  SELECT id, rank, priority, COALESCE(caller, '') AS caller FROM tasks
  WHERE lane = $1 AND state = 'queued' AND ($5::jsonb IS NULL OR fallback IS NULL
    AND (expires_at IS NULL OR expires_at > now())
    AND GREATEST(run_at, created_at) <= now() - $6::float8 * interval '1 ms')
  ORDER BY rank, id LIMIT $4
  FOR UPDATE SKIP LOCKED
), placed AS (
  SELECT *, row_number() OVER (PARTITION BY priority, caller ORDER BY rank, id) AS place FROM waiting
), head AS (
  SELECT COALESCE((SELECT rank + 100 * priority FROM tasks WHERE lane = $2 AND state = 'queued' ORDER BY rank, id LIMIT 1),
    (extract(epoch FROM now()) * 1e6)::bigint) AS turn
), moved AS (
  UPDATE tasks t SET lane = $2, capability = $3,
    rank = GREATEST(h.turn, l.turn) + p.place - 100 * t.priority,
    asked = CASE WHEN $5::jsonb IS NULL THEN COALESCE(t.asked, t.capability) ELSE t.asked END,
    fallback = CASE WHEN $5::jsonb IS NULL THEN t.fallback ELSE ($5::jsonb || jsonb_build_object('at', now()))::json END
  FROM placed p CROSS JOIN head h
    LEFT JOIN unnest($7::text[], $8::bigint[]) AS l (stream, turn) ON l.stream = 'moved ' || p.priority || ' ' || p.caller
  WHERE t.id = p.id AND t.state || '' = 'queued'
  RETURNING t.id, t.priority, COALESCE(t.caller, '') AS caller, (t.rank + 100 * t.priority)::float8 AS turn
), noted AS (
  INSERT INTO callbacks (task_id, kind, url, timeout_ms, max_attempts)
  SELECT id, 'degraded', $9, $10::int, $11::smallint FROM moved WHERE $9::text IS NOT NULL
  ON CONFLICT DO NOTHING
)
SELECT priority, caller, turn FROM moved
