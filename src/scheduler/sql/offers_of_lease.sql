-- Offers of a lease that were not acknowledged. $1 namespace, $2 agent_id, $3 lease_id
SELECT id, fence, attempt, capability, payload::text AS payload, idempotent, parent_task_id, traceparent,
  execution_timeout_ms, deadline_at, lease_id
FROM tasks WHERE namespace = $1 AND agent_id = $2 AND lease_id = $3::uuid AND state = 'offered'
