-- $1 task id, $2 why, $3 most attempts: after them it is dead and stays for a person to see; $4 base pause ms,
-- $5 longest pause ms, $6 kind
UPDATE callbacks SET last_error = $2, dead_at = CASE WHEN attempt >= $3::int THEN now() END,
  next_at = now() + LEAST($4::float8 * 2 ^ (attempt - 1), $5::float8) * interval '1 ms'
WHERE task_id = $1 AND kind = $6
