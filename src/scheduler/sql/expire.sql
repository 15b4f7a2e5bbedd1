-- Ends tasks that did not start in time, each with its attribution.
-- $1 ids, $2 fences, $3 states the caller saw, $4 errors, $5 attribution ids, $6 blames, $7 messages, $8 evidence
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[])
    AS i (id, fence, seen, error, attribution_id, blame, message, evidence)
), ended AS (
  UPDATE tasks t SET state = 'expired', deadline_at = NULL, finished_at = now(), error = i.error::json
  FROM input i
  WHERE t.id = i.id AND t.fence = i.fence AND t.state = i.seen AND t.state || '' IN ('scheduled', 'queued')
    AND t.expires_at <= now()
  RETURNING t.id, t.namespace, t.attempt, t.capability, t.lane, i.attribution_id, i.blame, i.message, i.evidence
), attributed AS (
  INSERT INTO attributions (id, namespace, task_id, attempt, final, stage, code, blame, capability, message, evidence)
  SELECT attribution_id, namespace, id, attempt, true, 'placement', 'TASK_EXPIRED', blame, capability, message,
    evidence::json
  FROM ended
)
SELECT id, lane, capability FROM ended
