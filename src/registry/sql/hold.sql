-- An operator holds an agent out of service, or lets it go (no reason). Columns of their own: no report of a probe, no
-- heartbeat and no registration touches them. What changes nothing leaves no trace in the history.
-- $1 namespace, $2 agent_id, $3 reason (null: release), $4 who
WITH old AS (
  SELECT hold_reason FROM agents WHERE namespace = $1 AND agent_id = $2 AND removed_at IS NULL FOR UPDATE
), changed AS (
  UPDATE agents SET hold_reason = $3,
    held_since = CASE WHEN $3::text IS NULL THEN NULL ELSE COALESCE(held_since, now()) END,
    rev = nextval('agents_rev_seq')
  WHERE namespace = $1 AND agent_id = $2 AND EXISTS (SELECT 1 FROM old)
  RETURNING *
), noted AS (
  INSERT INTO agent_transitions (id, kind, namespace, agent_id, from_state, to_state, reason, evidence)
  SELECT reach_uuid_v7(), CASE WHEN $3::text IS NULL THEN 'release' ELSE 'hold' END, $1, $2, changed.state,
    changed.state, COALESCE($3::text, old.hold_reason), jsonb_build_object('by', $4::text)
  FROM changed, old WHERE old.hold_reason IS DISTINCT FROM $3::text
)
SELECT changed.*, (SELECT count(*)::int FROM tasks t WHERE t.namespace = $1 AND t.agent_id = $2
  AND t.state IN ('offered', 'running')) AS in_flight
FROM changed
