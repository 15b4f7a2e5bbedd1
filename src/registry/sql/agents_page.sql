-- $1 namespace, $2 capability, $3 name, $4 state, $5 tag, $6 include removed, $7 after agent_id, $8 limit
SELECT a.*, (SELECT count(*)::int FROM tasks t WHERE t.namespace = a.namespace AND t.agent_id = a.agent_id
  AND t.state IN ('offered', 'running')) AS in_flight
FROM agents a
WHERE a.namespace = $1
  AND ($2::text IS NULL OR a.capabilities @> jsonb_build_array(jsonb_build_object('name', $2::text)))
  AND ($3::text IS NULL OR a.name = $3)
  AND ($4::text IS NULL OR a.state = $4)
  AND ($5::text IS NULL OR $5 = ANY(a.tags))
  AND ($6::boolean OR a.removed_at IS NULL)
  AND ($7::text IS NULL OR a.agent_id > $7)
ORDER BY a.agent_id
LIMIT $8
