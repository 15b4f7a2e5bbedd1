-- $1 task id
DELETE FROM callbacks WHERE task_id = $1
