-- Rows whose deadline passed, by the database's clock. $1 how many
SELECT id, namespace, lane, capability, state, fence, lease_id, agent_id, transport, attempt, max_attempts,
  idempotent, ack_timeout_ms, execution_timeout_ms, progress, created_at, run_at,
  expires_at IS NOT NULL AND expires_at <= now() AS expired,
  (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms
FROM tasks
WHERE state IN ('scheduled', 'queued', 'offered', 'running') AND deadline_at <= now()
ORDER BY deadline_at
LIMIT $1
