-- Ms until the earliest deadline of all open tasks; no row: there is none.
SELECT (extract(epoch FROM deadline_at - now()) * 1000)::float8 AS in_ms FROM tasks
WHERE state IN ('scheduled', 'queued', 'offered', 'running') AND deadline_at IS NOT NULL
ORDER BY deadline_at LIMIT 1
