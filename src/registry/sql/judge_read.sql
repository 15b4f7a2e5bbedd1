-- The agents to be judged, while each still has the lease that the facts were observed under.
-- $1 namespaces, $2 agent_ids, $3 lease_ids
SELECT i.ord::int AS ord, a.*
FROM unnest($1::text[], $2::text[], $3::uuid[]) WITH ORDINALITY AS i (namespace, agent_id, lease_id, ord)
JOIN agents a ON a.namespace = i.namespace AND a.agent_id = i.agent_id AND a.lease_id = i.lease_id
WHERE a.removed_at IS NULL
