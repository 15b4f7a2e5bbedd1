-- Schedules to look at, each locked: what another replica has locked is being fired by it. $1 limit
SELECT *, now() AS now FROM schedules
WHERE NOT paused AND due_at <= now()
ORDER BY due_at LIMIT $1
FOR UPDATE SKIP LOCKED
