-- Renews leases, many in one statement. A lease that was superseded, has ended or whose agent was removed
-- is not renewed: no row comes back for it. A lease may be asked for more than once (a repeated call meets its
-- first try): an UPDATE takes each row once, so it is made of the last report of each lease and answers all.
-- `doubted`: its facts still hold against it what a heartbeat disproves.
-- $1 namespaces, $2 agent_ids, $3 lease_ids, $4 capacity reports (null keeps the last one)
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[])
    WITH ORDINALITY AS i (namespace, agent_id, lease_id, capacity, ord)
), leases AS (
  SELECT namespace, agent_id, lease_id, array_agg(ord) AS ords,
    (array_agg(capacity ORDER BY ord DESC) FILTER (WHERE capacity IS NOT NULL))[1] AS capacity
  FROM input GROUP BY namespace, agent_id, lease_id
), locked AS (
  -- one order for all writers of several agents, so that two of them cannot wait for each other
  SELECT i.* FROM agents a JOIN leases i USING (namespace, agent_id)
  ORDER BY a.namespace, a.agent_id FOR NO KEY UPDATE OF a
), renewed AS (
  UPDATE agents a SET
    last_heartbeat_at = now(),
    lease_expires_at = now() + a.lease_ttl_ms * interval '1 ms',
    capacity = COALESCE(i.capacity::jsonb, a.capacity)
  FROM locked i
  WHERE a.namespace = i.namespace AND a.agent_id = i.agent_id AND a.lease_id = i.lease_id
    AND a.state <> 'offline' AND a.removed_at IS NULL
  RETURNING i.ords, a.state, a.lease_ttl_ms,
    a.state = 'suspicious' AND (COALESCE(a.facts->>'heartbeat', 'fresh') <> 'fresh'
      OR COALESCE(a.facts->>'session', 'none') = 'broken') AS doubted
)
SELECT unnest(ords)::int AS ord, state, lease_ttl_ms, doubted FROM renewed
