-- Callbacks that were given up long ago. $1 days, $2 how many
DELETE FROM callbacks WHERE (task_id, kind) IN (
  SELECT task_id, kind FROM callbacks WHERE dead_at < now() - $1::int * interval '1 day' LIMIT $2
)
