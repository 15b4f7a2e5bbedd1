-- Creates or replaces a schedule; whether it is paused, and what it did, stays.
-- $1 namespace, $2 schedule id, $3 cron, $4 time zone, $5 start, $6 end, $7 catch_up, $8 catch_up_limit, $9 jitter ms,
-- $10 overlap, $11 task, $12 next fire time, $13 due time, $14 waiting fire time, $15 by whom
INSERT INTO schedules AS s (namespace, schedule_id, cron, timezone, start_at, end_at, catch_up, catch_up_limit, jitter_ms,
  overlap, task, next_at, due_at, waiting_at, changed_by)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::json, i.next_at,
  CASE WHEN i.next_at IS NULL AND i.waiting_at IS NULL THEN NULL ELSE COALESCE($13::timestamptz, now()) END,
  i.waiting_at, $15
FROM (SELECT $12::timestamptz AS next_at, $14::timestamptz AS waiting_at) AS i
ON CONFLICT (namespace, schedule_id) DO UPDATE SET
  cron = excluded.cron, timezone = excluded.timezone, start_at = excluded.start_at, end_at = excluded.end_at,
  catch_up = excluded.catch_up, catch_up_limit = excluded.catch_up_limit, jitter_ms = excluded.jitter_ms,
  overlap = excluded.overlap, task = excluded.task, next_at = excluded.next_at, due_at = excluded.due_at,
  waiting_at = excluded.waiting_at, problem = NULL, changed_by = excluded.changed_by, changed_at = now()
RETURNING *, now() AS now
