-- Notes progress of running deliveries and, where asked, moves their deadline out (never in).
-- $1 task ids, $2 fences, $3 lease ids, $4 extend_ms (null: leave), $5 notes
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
UPDATE tasks t SET
  deadline_at = GREATEST(t.deadline_at, now() + i.extend_ms * interval '1 ms'),
  progress = COALESCE(i.note::json, t.progress)
FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::float8[], $5::text[])
  WITH ORDINALITY AS i (task_id, fence, lease_id, extend_ms, note, ord)
WHERE t.id = i.task_id AND t.fence = i.fence AND t.lease_id = i.lease_id AND t.state || '' = 'running'
RETURNING i.ord::int AS ord, t.deadline_at
