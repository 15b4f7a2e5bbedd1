-- Ms until the earliest deadline of all open tasks; no row: there is none. $1 as $2 of due.sql: what is overdue
-- but not judged yet is left out.
SELECT (extract(epoch FROM deadline_at - now()) * 1000)::float8 AS in_ms FROM tasks
WHERE state IN ('scheduled', 'queued', 'offered', 'running') AND deadline_at IS NOT NULL
  AND (state || '' <> 'running' OR LEAST(execution_timeout_ms, 5000) <= $1::float8 OR deadline_at > now())
ORDER BY deadline_at LIMIT 1
