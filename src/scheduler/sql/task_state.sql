-- $1 id
SELECT state FROM tasks WHERE id = $1
