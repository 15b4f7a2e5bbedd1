-- Offers of a lease that were not acknowledged. $1 namespace, $2 agent_id, $3 lease_id
SELECT id, fence, attempt, capability, payload::text AS payload, idempotent, parent_task_id, traceparent,
  fallback, execution_timeout_ms,
  (extract(epoch FROM expires_at - now()) * 1000)::float8 AS start_in_ms,
  (extract(epoch FROM ends_at - now()) * 1000)::float8 AS end_in_ms, deadline_at, lease_id
FROM tasks WHERE namespace = $1 AND agent_id = $2 AND lease_id = $3::uuid AND state = 'offered'
  AND (expires_at IS NULL OR expires_at > now())
