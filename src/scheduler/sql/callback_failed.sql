-- $1 task id, $2 why, $3 most attempts: after them it is dead and stays for a person to see
UPDATE callbacks SET last_error = $2, dead_at = CASE WHEN attempt >= $3::int THEN now() END WHERE task_id = $1
