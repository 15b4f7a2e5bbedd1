-- The offers behind delivery ids, as far as they are still open. $1 task ids, $2 fences
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
SELECT t.id, t.fence, t.attempt, t.capability, t.payload::text AS payload, t.idempotent, t.parent_task_id,
  t.traceparent, t.fallback, t.execution_timeout_ms,
  (extract(epoch FROM t.expires_at - now()) * 1000)::float8 AS start_in_ms,
  (extract(epoch FROM t.ends_at - now()) * 1000)::float8 AS end_in_ms, t.deadline_at, t.namespace, t.agent_id, t.lease_id
FROM unnest($1::uuid[], $2::int[]) AS i (id, fence)
JOIN tasks t ON t.id = i.id AND t.fence = i.fence AND t.state || '' = 'offered'
WHERE t.expires_at IS NULL OR t.expires_at > now()
