-- The ACK is the claim: offered -> running for the current delivery of the lease that was offered it, while its task may
-- still begin. (A push has begun with its ACK.)
-- $1 task ids, $2 fences, $3 lease ids. A delivery that does not come back was not current (see inspect.sql).
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
UPDATE tasks t SET state = 'running', acked_at = now(),
  deadline_at = LEAST(now() + t.execution_timeout_ms * interval '1 ms', t.ends_at)
FROM unnest($1::uuid[], $2::int[], $3::uuid[]) WITH ORDINALITY AS i (task_id, fence, lease_id, ord)
WHERE t.id = i.task_id AND t.fence = i.fence AND t.lease_id = i.lease_id AND t.state || '' = 'offered'
  AND (t.expires_at IS NULL OR t.expires_at > now() OR t.transport = 'push')
RETURNING i.ord::int AS ord, t.deadline_at,
  (extract(epoch FROM t.deadline_at - now()) * 1000)::float8 AS deadline_in_ms,
  (extract(epoch FROM t.acked_at - t.offered_at) * 1000)::float8 AS after_ms
