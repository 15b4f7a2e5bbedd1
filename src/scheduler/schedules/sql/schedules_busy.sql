-- Which schedules have a task that has not ended, by their place in the list. Of the last hundred tasks of each, however many
-- fire times were skipped since.
-- $1 namespaces, $2 schedule ids
SELECT i.ord::int AS ord FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i (namespace, schedule_id, ord)
WHERE EXISTS (
  SELECT 1 FROM (
    SELECT f.task_id FROM schedule_firings f
    WHERE f.namespace = i.namespace AND f.schedule_id = i.schedule_id AND f.task_id IS NOT NULL
    ORDER BY f.fire_at DESC LIMIT 100) AS latest
  JOIN tasks t ON t.id = latest.task_id
  WHERE t.finished_at IS NULL)
