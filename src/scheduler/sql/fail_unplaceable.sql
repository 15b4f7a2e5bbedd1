-- Ends tasks of a lane that wait for an agent whom nobody can reach, each with its attribution. What a pass has locked is being
-- offered, and stays. $1 lane, $2 ms for which they have waited, $3 whether only those that went to a fallback already,
-- $4 code, $5 error, $6 blame, $7 message, $8 evidence, $9 attribution ids: the most that are ended,
-- $10 whom to tell (null: nobody), $11 and $12 how long and how often that is tried
WITH waiting AS (
  SELECT id, row_number() OVER () AS place FROM (
    SELECT id FROM tasks
    WHERE lane = $1 AND state = 'queued' AND (NOT $3::boolean OR fallback IS NOT NULL)
      AND (expires_at IS NULL OR expires_at > now())
      AND GREATEST(run_at, created_at) <= now() - $2::float8 * interval '1 ms'
    ORDER BY rank, id LIMIT cardinality($9::uuid[])
    FOR UPDATE SKIP LOCKED) AS locked
), ended AS (
  UPDATE tasks t SET state = 'failed', deadline_at = NULL, finished_at = now(), error = $5::json
  FROM waiting w WHERE t.id = w.id AND t.state || '' = 'queued'
  RETURNING t.id, t.namespace, t.attempt, t.capability, w.place
), attributed AS (
  INSERT INTO attributions (id, namespace, task_id, attempt, final, stage, code, blame, capability, message, evidence)
  SELECT ($9::uuid[])[place], namespace, id, attempt, true, 'placement', $4, $6, capability, $7, $8::json FROM ended
), noted AS (
  INSERT INTO callbacks (task_id, kind, url, timeout_ms, max_attempts)
  SELECT id, 'unplaceable', $10, $11::int, $12::smallint FROM ended WHERE $10::text IS NOT NULL
  ON CONFLICT DO NOTHING
)
SELECT id, capability FROM ended
