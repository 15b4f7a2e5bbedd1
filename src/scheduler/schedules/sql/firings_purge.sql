-- $1 days for which they are kept, $2 most at a time
DELETE FROM schedule_firings WHERE (namespace, schedule_id, fire_at) IN (
  SELECT namespace, schedule_id, fire_at FROM schedule_firings
  WHERE noted_at < now() - $1::int * interval '1 day' LIMIT $2)
