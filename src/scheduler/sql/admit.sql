-- Inserts tasks, each with its idempotency key if it has one, many in one statement. Safe to repeat: a row
-- whose id or key exists already is left alone and comes back without a state.
-- $1 ids, $2 namespaces, $3 lanes, $4 capabilities, $5 payloads, $6 priorities, $7 idempotent,
-- $8 affinity keys, $9 parent ids, $10 retry_of, $11 callback urls, $12 traceparents, $13 ACK timeouts ms,
-- $14 execution timeouts ms, $15 max attempts, $16 delays ms, $17 run_at, $18 expiries ms, $19 keys, $20 digests
WITH input AS (
  SELECT *, COALESCE(at, now() + delay_ms * interval '1 ms') AS run_at,
    now() + expires_ms * interval '1 ms' AS expires_at
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::boolean[],
    $8::text[], $9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::int[], $14::int[], $15::smallint[],
    $16::float8[], $17::timestamptz[], $18::float8[], $19::text[], $20::text[])
    AS i (id, namespace, lane, capability, payload, priority, idempotent, affinity_key,
      parent_task_id, retry_of, callback_url, traceparent, ack_timeout_ms, execution_timeout_ms, max_attempts,
      delay_ms, at, expires_ms, key, digest)
), keyed AS (
  INSERT INTO idempotency_keys (namespace, key, task_id, body_digest)
  SELECT namespace, key, id, digest FROM input WHERE key IS NOT NULL
  ORDER BY namespace, key -- one order for all writers: two batches cannot wait for each other
  ON CONFLICT DO NOTHING
  RETURNING task_id
), added AS (
  INSERT INTO tasks (id, namespace, lane, capability, payload, priority, idempotent, affinity_key,
    parent_task_id, retry_of, callback_url, traceparent, ack_timeout_ms, execution_timeout_ms, max_attempts,
    run_at, expires_at, state, deadline_at)
  SELECT id, namespace, lane, capability, payload::json, priority, idempotent, affinity_key, parent_task_id,
    retry_of, callback_url, traceparent, ack_timeout_ms, execution_timeout_ms, max_attempts, run_at, expires_at,
    CASE WHEN run_at > now() THEN 'scheduled' ELSE 'queued' END,
    CASE WHEN run_at > now() THEN LEAST(run_at, expires_at) ELSE expires_at END
  FROM input i
  WHERE i.key IS NULL OR i.id IN (SELECT task_id FROM keyed)
  ON CONFLICT (id) DO NOTHING
  RETURNING id, state, deadline_at
)
SELECT id, state, (extract(epoch FROM deadline_at - now()) * 1000)::float8 AS deadline_in_ms FROM added
