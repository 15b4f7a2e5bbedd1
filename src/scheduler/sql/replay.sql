-- What is needed to submit ended tasks anew. By the filters, those that were submitted anew already are left out,
-- so that a call whose answer got lost can be repeated. A task
-- that went to an equivalent asks for what it asked for at first. $1 namespace, $2 ids (null: by the filters), $3 state, $4 capability,
-- $5 code, $6 since, $7 until, $8 limit
SELECT id, namespace, COALESCE(fallback->>'lane', lane) AS lane, COALESCE(fallback->>'from', capability) AS capability,
  asked, payload::text AS payload, priority, idempotent, affinity_key,
  parent_task_id, chain::text AS chain, callback_url, ack_timeout_ms, execution_timeout_ms, own_timeout, max_attempts, state
FROM tasks t
WHERE namespace = $1
  AND ($2::uuid[] IS NULL OR id = ANY($2))
  AND ($2::uuid[] IS NOT NULL OR NOT EXISTS (SELECT FROM tasks r WHERE r.retry_of = t.id))
  AND ($3::text IS NULL OR state = $3)
  AND ($4::text IS NULL OR capability = $4)
  AND ($5::text IS NULL OR error->>'code' = $5)
  AND ($6::timestamptz IS NULL OR created_at >= $6)
  AND ($7::timestamptz IS NULL OR created_at < $7)
ORDER BY id
LIMIT $8
