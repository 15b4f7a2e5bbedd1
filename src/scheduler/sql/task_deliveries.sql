-- Closed deliveries of a task, oldest first. $1 task id
SELECT fence, attempt, agent_id, transport, outcome, code, offered_at, acked_at, finished_at
FROM deliveries WHERE task_id = $1 ORDER BY fence
