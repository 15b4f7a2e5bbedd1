-- $1 namespace, $2 schedule id
SELECT *, now() AS now FROM schedules WHERE namespace = $1 AND schedule_id = $2
