-- The present state behind deliveries, and how each was closed if it was.
-- $1 task ids, $2 fences
SELECT i.ord::int AS ord, t.state, t.fence, t.lease_id, t.agent_id, t.namespace, t.deadline_at, t.transport,
  t.attempt, t.max_attempts, t.idempotent, t.capability, t.progress,
  COALESCE(t.expires_at <= now(), false) AS expired,
  d.outcome, d.code AS closed_code, d.lease_id AS closed_lease_id
FROM unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS i (task_id, fence, ord)
JOIN tasks t ON t.id = i.task_id
LEFT JOIN deliveries d ON d.task_id = i.task_id AND d.fence = i.fence
