-- Registers an agent and gives it a new lease; the lease before, if any, is superseded by the same statement.
-- $1 namespace, $2 agent_id, $3 name, $4 capabilities, $5 dependencies, $6 transport, $7 endpoint,
-- $8 max_concurrency, $9 weight, $10 tags, $11 metadata, $12 heartbeat_interval_ms, $13 lease_ttl_ms,
-- $14 lease_id, $15 capacity, $16 features, $17 facts, $18 replaces_lease_id or null,
-- $19 source and $20 its digest, or null: the agent itself registers. A source takes no id from an agent that registered
-- itself, or that another source registered, unless that one was removed.
-- What is known about a dependency that it still declares (the same but for how it is judged) stays known; everything
-- else is observed anew. An operator's hold is not the agent's to end.
-- Returns the row, and `superseded_lease_id` where an unexpired registration was replaced. No row: the agent's last
-- lease is neither $18 nor (the same call asked again) $14, so somebody else registered in the meantime; or lease $14 was
-- the agent's before, and this try is an old one.
-- The insert selects from `old`, which makes sure that `old` is read first: a row that this very statement has
-- changed already cannot be locked any more, and would be passed over.
WITH old AS (
  SELECT lease_id, state, removed_at FROM agents WHERE namespace = $1 AND agent_id = $2 FOR UPDATE
), registered AS (
  INSERT INTO agents AS a (
    namespace, agent_id, name, capabilities, dependencies, transport, endpoint, max_concurrency, weight, tags,
    metadata, heartbeat_interval_ms, lease_ttl_ms, lease_id, lease_expires_at, last_heartbeat_at, capacity,
    state, state_reason, state_since, registered_at, rev, features, facts,
    source, source_digest)
  SELECT $1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8::int, $9::int, $10::text[], $11::jsonb, $12::int, $13::int,
    $14::uuid, now() + $13::int * interval '1 ms', now(), $15::jsonb, 'online', 'registered', now(), now(),
    nextval('agents_rev_seq'), $16::text[], $17::jsonb, $19::text, $20::text
  FROM (SELECT count(*) FROM old) AS looked
  ON CONFLICT (namespace, agent_id) DO UPDATE SET
    name = excluded.name, capabilities = excluded.capabilities, dependencies = excluded.dependencies,
    transport = excluded.transport, endpoint = excluded.endpoint, max_concurrency = excluded.max_concurrency,
    weight = excluded.weight, tags = excluded.tags, metadata = excluded.metadata,
    heartbeat_interval_ms = excluded.heartbeat_interval_ms, lease_ttl_ms = excluded.lease_ttl_ms,
    lease_id = excluded.lease_id, lease_expires_at = excluded.lease_expires_at,
    last_heartbeat_at = excluded.last_heartbeat_at, capacity = excluded.capacity, state = 'online',
    state_reason = 'registered',
    state_since = CASE WHEN a.state = 'online' THEN a.state_since ELSE now() END,
    drain_until = NULL, removed_at = NULL, registered_at = now(), rev = excluded.rev,
    features = excluded.features, source = excluded.source, source_digest = excluded.source_digest,
    facts = excluded.facts || jsonb_build_object('dependencies', (
      SELECT COALESCE(jsonb_object_agg(known.key, known.value), '{}')
      FROM jsonb_each(COALESCE(a.facts->'dependencies', '{}')) AS known
      WHERE EXISTS (
        SELECT FROM jsonb_array_elements(a.dependencies) AS before,
          jsonb_array_elements(excluded.dependencies) AS after
        WHERE before->>'name' = known.key
          AND before - '{critical,timeout_ms}'::text[] = after - '{critical,timeout_ms}'::text[])))
  WHERE CASE WHEN $18::uuid IS NOT NULL THEN a.lease_id IN ($18::uuid, $14::uuid)
    -- A try that was given up, and arrives after the lease it asked for has been granted and is over.
    ELSE a.lease_id = $14::uuid OR NOT EXISTS (
      SELECT FROM agent_transitions t WHERE t.namespace = $1 AND t.agent_id = $2
        AND t.at > now() - interval '1 hour' AND t.facts->>'lease_id' = $14::uuid::text) END
    AND ($19::text IS NULL OR a.source = $19::text OR a.removed_at IS NOT NULL)
  RETURNING *
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts)
  SELECT reach_uuid_v7(), $1, $2, old.state, 'online', 'registered',
    jsonb_build_object('lease_id', r.lease_id, 'superseded_lease_id', old.lease_id)
  FROM registered r LEFT JOIN old ON true
)
SELECT r.*, old.state AS from_state,
  CASE WHEN old.state <> 'offline' AND old.removed_at IS NULL AND old.lease_id <> r.lease_id
    THEN old.lease_id END AS superseded_lease_id
FROM registered r LEFT JOIN old ON true
