-- Takes callbacks that are due, for a while: each taker gets its own, and what a taker that dies leaves behind comes
-- again. A few of each host only, so that one that hangs holds up nobody else.
-- (+ interval '0' keeps the planner off the partial index: see PLANNER in data-source.ts; what died is not due either)
-- $1 how many, $2 how many of one host, $3 hosts that have enough under way, $4 ms for which they are taken
UPDATE callbacks c SET attempt = c.attempt + 1, next_at = now() + $4::float8 * interval '1 ms'
FROM tasks t
WHERE (c.task_id, c.kind) IN (
    SELECT task_id, kind FROM (
        SELECT task_id, kind FROM (
          SELECT task_id, kind, next_at, row_number() OVER (PARTITION BY host ORDER BY next_at) AS place
          FROM (
            SELECT task_id, kind, next_at, lower(substring(url FROM '//([^/?#]*)')) AS host
            FROM callbacks WHERE dead_at IS NULL AND next_at <= now()) AS due
          WHERE host <> ALL ($3::text[])) AS queued
        WHERE place <= $2::int ORDER BY next_at LIMIT $1) AS chosen
      JOIN callbacks d USING (task_id, kind)
    WHERE d.next_at + interval '0' <= now()
    FOR UPDATE OF d SKIP LOCKED)
  AND t.id = c.task_id
RETURNING c.task_id, c.kind, c.timeout_ms, c.max_attempts, c.created_at AS noted_at, c.url,
  lower(substring(c.url FROM '//([^/?#]*)')) AS host, c.attempt, t.namespace, t.capability, t.state,
  t.attempt AS task_attempt, t.agent_id, t.result, t.error, t.fallback, t.meta, t.created_at, t.finished_at
