-- Takes callbacks that are due: each taker gets its own, and the next try is set before this one is made.
-- $1 how many, $2 base pause ms, $3 longest pause ms
UPDATE callbacks c SET attempt = c.attempt + 1,
  next_at = now() + LEAST($2::float8 * 2 ^ c.attempt, $3::float8) * interval '1 ms'
FROM tasks t
WHERE c.task_id IN (
    SELECT task_id FROM callbacks WHERE dead_at IS NULL AND next_at <= now()
    ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  AND t.id = c.task_id
RETURNING c.task_id, c.url, c.attempt, t.namespace, t.capability, t.state, t.attempt AS task_attempt, t.agent_id,
  t.result, t.error, t.meta, t.created_at, t.finished_at
