-- Moves one agent from one of the states in $5 to $6, while its lease is still $3.
-- $1 namespace, $2 agent_id, $3 lease_id, $4 facts, $5 from states, $6 to state, $7 reason
WITH old AS (
  SELECT state FROM agents
  WHERE namespace = $1 AND agent_id = $2 AND lease_id = $3::uuid AND state = ANY($5::text[]) AND removed_at IS NULL
  FOR UPDATE
), changed AS (
  UPDATE agents SET state = $6, state_reason = $7, state_since = now(), rev = nextval('agents_rev_seq')
  WHERE namespace = $1 AND agent_id = $2 AND EXISTS (SELECT 1 FROM old)
  RETURNING *
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts)
  SELECT reach_uuid_v7(), $1, $2, old.state, $6, $7, $4::jsonb FROM changed, old
)
SELECT * FROM changed
