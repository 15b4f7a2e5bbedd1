-- $1 namespace, $2 schedule id, $3 paused, $4 why, $5 next fire time, $6 due time, $7 by whom
UPDATE schedules SET paused = $3, pause_reason = $4, next_at = $5, due_at = $6, waiting_at = NULL, problem = NULL,
  changed_by = $7, changed_at = now()
WHERE namespace = $1 AND schedule_id = $2
RETURNING *, now() AS now
