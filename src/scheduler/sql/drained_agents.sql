-- Agents that are leaving and hold nothing any more.
SELECT a.namespace, a.agent_id FROM agents a
WHERE a.state = 'removing' AND a.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.namespace = a.namespace AND t.agent_id = a.agent_id
    AND t.state IN ('offered', 'running'))
LIMIT 1000
