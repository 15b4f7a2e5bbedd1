-- Tasks of a lane that wait for an agent go to the lane of an equivalent; each once. How many. What a pass has locked is
-- being offered, and stays. $1 lane, $2 lane of the equivalent, $3 its label, $4 ms for which they have waited, $5 what is noted,
-- $6 how many
WITH waiting AS (
  SELECT id FROM tasks
  WHERE lane = $1 AND state = 'queued' AND fallback IS NULL AND (expires_at IS NULL OR expires_at > now())
    AND GREATEST(run_at, created_at) <= now() - $4::float8 * interval '1 ms'
  ORDER BY rank, id LIMIT $6
  FOR UPDATE SKIP LOCKED
)
UPDATE tasks t SET lane = $2, capability = $3, fallback = ($5::jsonb || jsonb_build_object('at', now()))::json
FROM waiting w WHERE t.id = w.id AND t.state || '' = 'queued'
