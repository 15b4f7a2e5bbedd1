-- The head of a lane, locked until the offers are written. Tasks that another dispatcher is placing are skipped.
-- $1 lane, $2 how many
SELECT id, fence, attempt, max_attempts, capability, payload::text AS payload, idempotent, affinity_key,
  parent_task_id, traceparent, ack_timeout_ms, execution_timeout_ms, own_timeout, tried, fallback,
  (extract(epoch FROM expires_at - now()) * 1000)::float8 AS start_in_ms,
  (extract(epoch FROM ends_at - now()) * 1000)::float8 AS end_in_ms,
  (extract(epoch FROM now() - GREATEST(run_at, created_at)) * 1000)::float8 AS waited_ms
FROM tasks
WHERE lane = $1 AND state = 'queued' AND (expires_at IS NULL OR expires_at > now())
ORDER BY rank, id
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED
