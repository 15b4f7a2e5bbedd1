-- The agent leaves: no new work; what it holds may finish until drain_until.
-- $1 namespace, $2 agent_id, $3 lease_id (null: an operator's order), $4 drain_ms, $5 reason
WITH old AS (
  SELECT state FROM agents
  WHERE namespace = $1 AND agent_id = $2 AND ($3::uuid IS NULL OR lease_id = $3::uuid)
    AND state <> 'removing' AND removed_at IS NULL
  FOR UPDATE
), changed AS (
  UPDATE agents SET state = 'removing', state_reason = $5, state_since = now(),
    drain_until = now() + $4::int * interval '1 ms', rev = nextval('agents_rev_seq')
  WHERE namespace = $1 AND agent_id = $2 AND EXISTS (SELECT 1 FROM old)
  RETURNING *
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts)
  SELECT reach_uuid_v7(), $1, $2, old.state, 'removing', $5, jsonb_build_object('drain_ms', $4::int) FROM changed, old
)
SELECT changed.*, old.state AS from_state FROM changed, old
