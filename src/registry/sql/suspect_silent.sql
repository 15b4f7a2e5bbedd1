-- Agents whose heartbeat is overdue become suspicious. $1: as in expire_leases.sql; $2: overdue after this many
-- intervals, and half a second for the way of a heartbeat, so that short intervals do not cry wolf.
WITH due AS (
  SELECT namespace, agent_id, state AS from_state FROM agents
  WHERE state IN ('online', 'degraded')
    AND last_heartbeat_at < now() - heartbeat_interval_ms * $2::float8 * interval '1 ms' - interval '500 ms'
    AND heartbeat_interval_ms * $2::float8 <= $1
  ORDER BY namespace, agent_id LIMIT 1000
  FOR UPDATE SKIP LOCKED
), suspected AS (
  UPDATE agents a SET state = 'suspicious', state_reason = 'heartbeat missed', state_since = now(),
    rev = nextval('agents_rev_seq')
  FROM due d WHERE a.namespace = d.namespace AND a.agent_id = d.agent_id
  RETURNING a.*, d.from_state
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts)
  SELECT reach_uuid_v7(), namespace, agent_id, from_state, 'suspicious', 'heartbeat missed',
    jsonb_build_object('last_heartbeat_at', last_heartbeat_at, 'heartbeat_interval_ms', heartbeat_interval_ms)
  FROM suspected
)
SELECT * FROM suspected
