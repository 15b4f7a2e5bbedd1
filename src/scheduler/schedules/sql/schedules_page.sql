-- $1 namespace, $2 after schedule id, $3 limit
SELECT *, now() AS now FROM schedules WHERE namespace = $1 AND ($2::text IS NULL OR schedule_id > $2)
ORDER BY schedule_id LIMIT $3
