-- Newest first. $1 namespace, $2 schedule id, $3 limit
SELECT fire_at, outcome, task_id, detail, noted_at FROM schedule_firings
WHERE namespace = $1 AND schedule_id = $2 ORDER BY fire_at DESC LIMIT $3
