-- What agents declare of a capability, under any of its names. $1 namespace, $2 names, $3 limit
SELECT a.agent_id, c.capability
FROM agents a, jsonb_array_elements(a.capabilities) AS c (capability)
WHERE a.namespace = $1 AND a.removed_at IS NULL AND c.capability ->> 'name' = ANY ($2::text[])
ORDER BY a.registered_at DESC LIMIT $3
