-- $1 task id, $2 kind
DELETE FROM callbacks WHERE task_id = $1 AND kind = $2
