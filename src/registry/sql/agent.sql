-- $1 namespace, $2 agent_id
SELECT a.*, (SELECT count(*)::int FROM tasks t WHERE t.namespace = a.namespace AND t.agent_id = a.agent_id
  AND t.state IN ('offered', 'running')) AS in_flight
FROM agents a WHERE a.namespace = $1 AND a.agent_id = $2
