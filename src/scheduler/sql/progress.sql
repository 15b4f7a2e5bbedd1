-- Notes progress of running deliveries and, where asked, moves their deadline out (never in), up to the end of the task.
-- $1 task ids, $2 fences, $3 lease ids, $4 extend_ms (null: leave), $5 notes
-- A delivery may come more than once in a batch, and an UPDATE takes each row once: the farthest deadline and the
-- last note hold, and every one of them is answered.
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::float8[], $5::text[])
    WITH ORDINALITY AS i (task_id, fence, lease_id, extend_ms, note, ord)
), deliveries AS (
  SELECT task_id, fence, lease_id, array_agg(ord) AS ords, max(extend_ms) AS extend_ms,
    (array_agg(note ORDER BY ord DESC) FILTER (WHERE note IS NOT NULL))[1] AS note
  FROM input GROUP BY task_id, fence, lease_id
), noted AS (
  UPDATE tasks t SET
    deadline_at = LEAST(GREATEST(t.deadline_at, now() + d.extend_ms * interval '1 ms'), t.ends_at),
    progress = COALESCE(d.note::json, t.progress)
  FROM deliveries d
  WHERE t.id = d.task_id AND t.fence = d.fence AND t.lease_id = d.lease_id AND t.state || '' = 'running'
  RETURNING d.ords, t.deadline_at, t.namespace, t.capability, t.agent_id
)
SELECT unnest(ords)::int AS ord, deadline_at, namespace, capability, agent_id FROM noted
