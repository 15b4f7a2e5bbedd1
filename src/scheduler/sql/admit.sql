-- Inserts tasks, each with its idempotency key if it has one, many in one statement. Safe to repeat: a row
-- whose id or key exists already is left alone and comes back without a state.
-- $1 ids, $2 namespaces, $3 lanes, $4 capabilities, $5 payloads, $6 priorities, $7 idempotent,
-- $8 affinity keys, $9 parent ids, $10 retry_of, $11 callback urls, $12 traceparents, $13 ACK timeouts ms,
-- $14 execution timeouts ms, $15 max attempts, $16 delays ms, $17 run_at, $18 expiries ms, $19 keys, $20 digests,
-- $21 agent ids, $22 lease ids, $23 transports of first offers: such a task is offered as it is inserted (see offer.sql),
-- unless another one waits in its lane already, or a capability of it is paused, which this replica may not have heard
-- yet. The key of a lane is JSON, [namespace, {"c": [capability or capability@range, ...], ...}].
-- $24 whether a seat was looked for: its slot is held by the name of delivery 1, so the fence is raised even where the
-- task queues. Then the slot can be given back while another dispatcher already offers the task.
-- $25 decisions of first offers, $26 whether the caller said the execution timeout,
-- $27 timeouts ms of whole tasks, $28 names that were asked for, where they are aliases,
-- $29 chains of calls.
-- $30 the last turns of their callers, $31 the place of each among those of its caller here. The turn that is served is that of
-- the lane's head; an empty lane begins by the clock, in us, which is past all that was ever served. See core/fair-share.ts.
-- $32 callers ('': nobody in particular)
WITH given AS (
  SELECT *, COALESCE(at, now() + delay_ms * interval '1 ms') AS run_at
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::boolean[],
    $8::text[], $9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::int[], $14::int[], $15::smallint[],
    $16::float8[], $17::timestamptz[], $18::float8[], $19::text[], $20::text[], $21::text[], $22::uuid[], $23::text[],
      $24::boolean[], $25::text[], $26::boolean[], $27::float8[], $28::text[], $29::text[], $30::bigint[], $31::int[], $32::text[])
    AS i (id, namespace, lane, capability, payload, priority, idempotent, affinity_key,
      parent_task_id, retry_of, callback_url, traceparent, ack_timeout_ms, execution_timeout_ms, max_attempts,
      delay_ms, at, expires_ms, key, digest, agent_id, lease_id, transport, seated, decision, own_timeout, timeout_ms,
      asked, chain, last_turn, place, caller)
), timed AS (
  SELECT *, GREATEST(run_at, now()) + timeout_ms * interval '1 ms' AS ends_at FROM given
), input AS (
  SELECT *, LEAST(now() + expires_ms * interval '1 ms', ends_at) AS expires_at FROM timed
), lanes AS MATERIALIZED ( -- once a lane, not once a task
  SELECT i.lane, head.turn, i.seats AND (head.turn IS NOT NULL OR EXISTS (
      SELECT 1 FROM capability_switches s, json_array_elements_text(i.lane::json -> 1 -> 'c') AS c (ref)
      WHERE s.paused AND s.namespace = i.lane::json ->> 0 AND s.capability = split_part(c.ref, '@', 1)
    )) AS waits
  FROM (SELECT lane, bool_or(agent_id IS NOT NULL) AS seats FROM input GROUP BY lane) i
  LEFT JOIN LATERAL (SELECT t.rank + 100 * t.priority AS turn FROM tasks t
    WHERE t.lane = i.lane AND t.state = 'queued' ORDER BY t.rank, t.id LIMIT 1) head ON true
), placed AS MATERIALIZED ( -- its columns go into many others
  SELECT i.*,
    GREATEST(COALESCE(l.turn, (extract(epoch FROM now()) * 1e6)::bigint), i.last_turn) + i.place - 100 * i.priority AS rank,
    CASE
      WHEN i.run_at > now() THEN 'scheduled'
      WHEN i.agent_id IS NOT NULL AND NOT l.waits THEN 'offered'
      ELSE 'queued'
    END AS state
  FROM input i JOIN lanes l ON l.lane = i.lane
), keyed AS (
  INSERT INTO idempotency_keys (namespace, key, task_id, body_digest)
  SELECT namespace, key, id, digest FROM input WHERE key IS NOT NULL
  ORDER BY namespace, key -- one order for all writers: two batches cannot wait for each other
  ON CONFLICT DO NOTHING
  RETURNING task_id
), added AS (
  INSERT INTO tasks (id, namespace, lane, capability, payload, priority, idempotent, affinity_key,
    parent_task_id, retry_of, callback_url, traceparent, ack_timeout_ms, execution_timeout_ms, max_attempts,
    run_at, expires_at, state, deadline_at, fence, attempt, agent_id, lease_id, transport, decision,
    offered_at, own_timeout, ends_at, asked, chain, rank, caller)
  SELECT id, namespace, lane, capability, payload::json, priority, idempotent, affinity_key, parent_task_id,
    retry_of, callback_url, traceparent, ack_timeout_ms, execution_timeout_ms, max_attempts, run_at, expires_at, state,
    CASE state
      WHEN 'scheduled' THEN LEAST(run_at, expires_at)
      WHEN 'offered' THEN CASE transport
        WHEN 'push' THEN now() + ack_timeout_ms * interval '1 ms'
        ELSE LEAST(now() + ack_timeout_ms * interval '1 ms', expires_at) END
      ELSE expires_at
    END,
    seated::int, (state = 'offered')::int,
    CASE state WHEN 'offered' THEN agent_id END,
    CASE state WHEN 'offered' THEN lease_id END,
    CASE state WHEN 'offered' THEN transport END,
    CASE state WHEN 'offered' THEN decision::json END,
    CASE state WHEN 'offered' THEN now() END, own_timeout, ends_at, asked, chain::json, rank, NULLIF(caller, '')
  FROM placed i
  WHERE i.key IS NULL OR i.id IN (SELECT task_id FROM keyed)
  ON CONFLICT (id) DO NOTHING
  RETURNING id, state, deadline_at, rank + 100 * priority AS turn
)
SELECT id, state, turn::float8 AS turn, deadline_at, (extract(epoch FROM deadline_at - now()) * 1000)::float8 AS deadline_in_ms FROM added
