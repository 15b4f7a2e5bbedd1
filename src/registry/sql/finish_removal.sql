-- $1 namespace, $2 agent_id: the agent holds nothing any more (or its drain time is over); the row is disabled.
UPDATE agents SET removed_at = now(), rev = nextval('agents_rev_seq')
WHERE namespace = $1 AND agent_id = $2 AND state = 'removing' AND removed_at IS NULL
RETURNING *
