-- $1 namespace, $2 schedule id
DELETE FROM schedules WHERE namespace = $1 AND schedule_id = $2 RETURNING *, now() AS now
