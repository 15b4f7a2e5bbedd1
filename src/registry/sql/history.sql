-- What happened to an agent of late, newest first. $1 namespace, $2 agent_id, $3 limit
SELECT kind, at, from_state, to_state, reason, facts, evidence FROM agent_transitions
WHERE namespace = $1 AND agent_id = $2 ORDER BY id DESC LIMIT $3
