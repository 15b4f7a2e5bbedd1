-- Rows whose deadline passed, by the database's clock. $1 how many, $2 for how many ms agents have been able to
-- report: what runs is judged after a full timeout of that, or 5 s, so that a result that could not be delivered
-- while we were away has its chance.
SELECT id, namespace, lane, capability, state, fence, lease_id, agent_id, transport, attempt, max_attempts,
  idempotent, ack_timeout_ms, execution_timeout_ms, progress, created_at, run_at, priority, COALESCE(caller, '') AS caller,
  expires_at IS NOT NULL AND expires_at <= now() AS expired, ends_at IS NOT NULL AND ends_at <= now() AS over,
  (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms
FROM tasks
WHERE state IN ('scheduled', 'queued', 'offered', 'running') AND deadline_at <= now()
  AND (state || '' <> 'running' OR LEAST(execution_timeout_ms, 5000) <= $2::float8)
ORDER BY deadline_at
LIMIT $1
