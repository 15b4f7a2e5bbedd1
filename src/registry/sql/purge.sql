-- Agents that were removed, or have not been heard of, for $1 days. (Each new instance may have an id of its own, and
-- not every one says goodbye.)
DELETE FROM agents WHERE (namespace, agent_id) IN (
  SELECT namespace, agent_id FROM agents
  WHERE removed_at < now() - $1::int * interval '1 day'
    OR (state = 'offline' AND state_since < now() - $1::int * interval '1 day')
  LIMIT 1000
)
