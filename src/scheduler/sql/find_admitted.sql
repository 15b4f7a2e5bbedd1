-- What stands in the ledger for rows that admit.sql left alone.
-- $1 ids, $2 namespaces, $3 keys (null: look up by id)
SELECT i.ord::int AS ord, t.id AS task_id, t.state, k.body_digest
FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS i (id, namespace, key, ord)
LEFT JOIN idempotency_keys k ON k.namespace = i.namespace AND k.key = i.key
JOIN tasks t ON t.id = COALESCE(k.task_id, i.id)
