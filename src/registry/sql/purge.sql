-- $1 days
DELETE FROM agents WHERE (namespace, agent_id) IN (
  SELECT namespace, agent_id FROM agents WHERE removed_at < now() - $1::int * interval '1 day' LIMIT 1000
)
