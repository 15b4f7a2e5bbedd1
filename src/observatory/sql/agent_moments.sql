-- State changes of the agents that held a task, from $3 to $4. $1 namespace, $2 agent ids
SELECT agent_id, from_state, to_state, reason, at FROM agent_transitions
WHERE kind = 'transition' AND namespace = $1 AND agent_id = ANY($2::text[]) AND at >= $3 AND at <= $4
ORDER BY at LIMIT 200
