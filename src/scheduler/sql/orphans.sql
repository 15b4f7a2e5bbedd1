-- Deliveries whose holder cannot finish them any more: its lease was superseded or ended, or its drain time is
-- over; and those that an agent which leaves has not begun (a push may have begun although its ACK got lost). $1 how many, $2 namespace (null: all), $3 agent_id
SELECT t.id, t.namespace, t.lane, t.capability, t.state, t.fence, t.lease_id, t.agent_id, t.transport, t.attempt,
  t.max_attempts, t.idempotent,
  CASE WHEN a.agent_id IS NULL OR a.removed_at IS NOT NULL THEN 'drained'
       WHEN a.lease_id <> t.lease_id THEN 'restarted'
       WHEN a.state = 'offline' THEN 'lease_expired'
       WHEN t.state = 'offered' AND t.transport <> 'push' THEN 'leaving'
       ELSE 'drained' END AS cause,
  a.last_heartbeat_at, a.registered_at
FROM tasks t LEFT JOIN agents a ON a.namespace = t.namespace AND a.agent_id = t.agent_id
WHERE t.state IN ('offered', 'running')
  AND ($2::text IS NULL OR (t.namespace = $2 AND t.agent_id = $3))
  AND (a.agent_id IS NULL OR a.lease_id <> t.lease_id OR a.state = 'offline' OR a.removed_at IS NOT NULL
    OR (a.state = 'removing'
      AND (a.drain_until <= now() OR (t.state = 'offered' AND t.transport <> 'push'))))
LIMIT $1
