-- Agents whose heartbeat is overdue become suspicious; one that is so for another reason already is noted as overdue
-- too, or that reason's end would bring it back. $1: as in expire_leases.sql; $2: overdue after this many intervals,
-- and half a second for the way of a heartbeat, so that short intervals do not cry wolf.
WITH due AS (
  SELECT namespace, agent_id, state AS from_state FROM agents
  WHERE state IN ('online', 'degraded', 'suspicious')
    AND last_heartbeat_at < now() - heartbeat_interval_ms * $2::float8 * interval '1 ms' - interval '500 ms'
    AND COALESCE(facts->>'heartbeat', 'fresh') = 'fresh'
    AND heartbeat_interval_ms * $2::float8 <= $1
  ORDER BY namespace, agent_id LIMIT 1000
  FOR UPDATE SKIP LOCKED
), suspected AS (
  UPDATE agents a SET
    facts = a.facts || '{"heartbeat": "missed"}',
    state = 'suspicious',
    state_reason = CASE WHEN a.facts->>'session' = 'broken' THEN a.state_reason ELSE 'heartbeat missed' END,
    state_since = CASE WHEN d.from_state = 'suspicious' THEN a.state_since ELSE now() END,
    rev = nextval('agents_rev_seq')
  FROM due d WHERE a.namespace = d.namespace AND a.agent_id = d.agent_id
  RETURNING a.*, d.from_state
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts)
  SELECT reach_uuid_v7(), namespace, agent_id, from_state, 'suspicious', state_reason,
    jsonb_build_object('heartbeat', 'missed', 'last_heartbeat_at', last_heartbeat_at,
      'heartbeat_interval_ms', heartbeat_interval_ms)
  FROM suspected WHERE from_state <> 'suspicious'
)
SELECT * FROM suspected
