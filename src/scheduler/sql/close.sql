-- Closes deliveries that did not succeed, and says what becomes of their tasks, with the attribution of the
-- failure in the same statement. The guard is the fence, the lease and the state the caller saw.
-- $1 task ids, $2 fences, $3 lease ids, $4 states the caller saw, $5 outcomes ('failed', 'released'),
-- $6 codes, $7 next states ('scheduled', 'queued', 'failed'), $8 delays ms (of 'scheduled'),
-- $9 errors (of 'failed'), $10 attribution ids (null: none), $11 stages, $12 blames, $13 dependencies,
-- $14 messages, $15 evidence
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::float8[], $9::text[], $10::uuid[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[])
    WITH ORDINALITY AS i (task_id, fence, lease_id, seen, outcome, code, next, delay_ms, error, attribution_id,
      stage, blame, dependency, message, evidence, ord)
), ended AS (
  UPDATE tasks t SET
    state = i.next,
    lease_id = NULL,
    attempt = CASE WHEN i.outcome = 'released' THEN t.attempt - 1 ELSE t.attempt END,
    -- the last one stands last; 32 are remembered
    tried = CASE WHEN i.next = 'failed' THEN t.tried
      ELSE (array_remove(t.tried, t.agent_id) || t.agent_id)[greatest(1, cardinality(t.tried) - 30):] END,
    run_at = CASE WHEN i.next = 'scheduled' THEN now() + i.delay_ms * interval '1 ms' ELSE t.run_at END,
    deadline_at = CASE i.next
      WHEN 'scheduled' THEN LEAST(now() + i.delay_ms * interval '1 ms', t.expires_at)
      WHEN 'queued' THEN t.expires_at END,
    error = i.error::json,
    finished_at = CASE WHEN i.next = 'failed' THEN now() END
  FROM input i
  WHERE t.id = i.task_id AND t.fence = i.fence AND t.lease_id = i.lease_id AND t.state = i.seen
  RETURNING t.id, t.fence, t.namespace, t.attempt + (i.outcome = 'released')::int AS attempt, t.agent_id,
    t.transport, t.offered_at, t.acked_at, t.lane, t.capability, t.decision, i.lease_id, i.outcome, i.code, i.next, i.ord,
    cardinality(array_remove(t.tried, t.agent_id)) AS elsewhere,
    i.attribution_id, i.stage, i.blame, i.dependency, i.message, i.evidence
), closed AS (
  INSERT INTO deliveries (task_id, fence, namespace, attempt, agent_id, lease_id, transport, outcome, code,
    offered_at, acked_at, decision)
  SELECT id, fence, namespace, attempt, agent_id, lease_id, transport, outcome, code, offered_at, acked_at,
    decision
  FROM ended
), attributed AS (
  INSERT INTO attributions (id, namespace, task_id, fence, attempt, final, stage, code, blame, agent_id,
    dependency, capability, message, evidence)
  SELECT attribution_id, namespace, id, fence, attempt, next = 'failed', stage, code, blame, agent_id,
    dependency, capability, message, evidence::json
  FROM ended WHERE attribution_id IS NOT NULL
)
SELECT ord::int AS ord, namespace, agent_id, lane, capability, next, elsewhere,
  (extract(epoch FROM now() - COALESCE(acked_at, offered_at)) * 1000)::float8 AS took_ms
FROM ended
