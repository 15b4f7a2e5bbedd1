-- The chains of tasks, and who handles them. $1 ids, $2 namespaces
SELECT i.ord::int AS ord, t.chain, t.agent_id
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS i (id, namespace, ord)
JOIN tasks t ON t.id = i.id AND t.namespace = i.namespace
