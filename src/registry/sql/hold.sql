-- An operator holds an agent out of service, or lets it go (no reason). Columns of their own: no report of a probe, no
-- heartbeat and no registration touches them. $1 namespace, $2 agent_id, $3 reason (null: release)
UPDATE agents SET hold_reason = $3,
  held_since = CASE WHEN $3::text IS NULL THEN NULL ELSE COALESCE(held_since, now()) END,
  rev = nextval('agents_rev_seq')
WHERE namespace = $1 AND agent_id = $2 AND removed_at IS NULL
RETURNING *, (SELECT count(*)::int FROM tasks t WHERE t.namespace = agents.namespace AND t.agent_id = agents.agent_id
  AND t.state IN ('offered', 'running')) AS in_flight
