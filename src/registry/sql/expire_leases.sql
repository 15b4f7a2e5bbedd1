-- Ends the leases that ran out. $1: for how long, in ms, this replica has been able to hear heartbeats without
-- a break; only leases shorter than that are judged, so that an outage of ours is not taken for theirs.
-- An agent that answers echoes is given one more lease: it lives, though its heartbeats are lost. Until then it is
-- suspicious. A session that broke carries no echo.
WITH due AS (
  SELECT namespace, agent_id, state AS from_state FROM agents
  WHERE state IN ('online', 'degraded', 'suspicious') AND lease_expires_at < now() AND lease_ttl_ms <= $1
    AND (facts#>>'{echo,standing}' IS DISTINCT FROM 'good' OR facts->>'session' = 'broken'
      OR lease_expires_at < now() - lease_ttl_ms * interval '1 ms')
  ORDER BY namespace, agent_id LIMIT 1000
  FOR UPDATE SKIP LOCKED
), ended AS (
  UPDATE agents a SET facts = a.facts || '{"heartbeat": "dead"}', state = 'offline', state_reason = 'lease expired', state_since = now(),
    rev = nextval('agents_rev_seq')
  FROM due d WHERE a.namespace = d.namespace AND a.agent_id = d.agent_id
  RETURNING a.*, d.from_state
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts)
  SELECT reach_uuid_v7(), namespace, agent_id, from_state, 'offline', 'lease expired',
    jsonb_build_object('heartbeat', 'dead', 'last_heartbeat_at', last_heartbeat_at, 'lease_expires_at', lease_expires_at,
      'lease_id', lease_id, 'echo', facts#>>'{echo,standing}')
  FROM ended
)
SELECT * FROM ended
