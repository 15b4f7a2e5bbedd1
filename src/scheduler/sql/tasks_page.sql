-- Newest first. $1 namespace, $2 state, $3 capability, $4 agent_id, $5 code, $6 since, $7 until, $8 before id, $9 limit
SELECT id, namespace, lane, capability, priority, idempotent, affinity_key, parent_task_id, retry_of,
  ack_timeout_ms, execution_timeout_ms, max_attempts, run_at, expires_at, ends_at, state, fence, attempt, agent_id, lease_id,
  transport, offered_at, acked_at, deadline_at, progress, meta, error, fallback, created_at, finished_at
FROM tasks
WHERE namespace = $1
  AND ($2::text IS NULL OR state = $2)
  AND ($3::text IS NULL OR capability = $3)
  AND ($4::text IS NULL OR agent_id = $4)
  AND ($5::text IS NULL OR error->>'code' = $5)
  AND ($6::timestamptz IS NULL OR created_at >= $6)
  AND ($7::timestamptz IS NULL OR created_at < $7)
  AND ($8::uuid IS NULL OR id < $8)
ORDER BY id DESC
LIMIT $9
