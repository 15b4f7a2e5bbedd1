-- Deliveries that agents hold now. $1 namespaces, $2 agent ids
SELECT t.namespace, t.agent_id, t.id, t.fence
FROM unnest($1::text[], $2::text[]) AS i (namespace, agent_id)
JOIN tasks t ON t.namespace = i.namespace AND t.agent_id = i.agent_id AND t.state IN ('offered', 'running')
