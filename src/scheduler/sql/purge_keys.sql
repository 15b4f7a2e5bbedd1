-- Idempotency keys that have served their time, a few thousand at a time. $1 age in ms, $2 how many
DELETE FROM idempotency_keys WHERE (namespace, key) IN (
  SELECT namespace, key FROM idempotency_keys WHERE created_at < now() - $1::float8 * interval '1 ms'
  ORDER BY created_at LIMIT $2
)
