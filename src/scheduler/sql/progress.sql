-- Notes progress of running deliveries and, where asked, moves their deadline out (never in).
-- $1 task ids, $2 fences, $3 lease ids, $4 extend_ms (null: leave), $5 notes
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::float8[], $5::text[])
    WITH ORDINALITY AS i (task_id, fence, lease_id, extend_ms, note, ord)
), noted AS (
  UPDATE tasks t SET
    deadline_at = GREATEST(t.deadline_at, now() + i.extend_ms * interval '1 ms'),
    progress = COALESCE(i.note::json, t.progress)
  FROM input i
  WHERE t.id = i.task_id AND t.fence = i.fence AND t.lease_id = i.lease_id AND t.state = 'running'
  RETURNING t.id, t.fence, t.deadline_at
)
SELECT i.ord::int AS ord, n.deadline_at FROM input i JOIN noted n ON n.id = i.task_id AND n.fence = i.fence
