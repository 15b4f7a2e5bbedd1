-- Notes what came of fire times; comes back for those that were not noted before, by their place in the list.
-- $1 namespaces, $2 schedule ids, $3 fire times, $4 outcomes, $5 task ids, $6 details
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::uuid[], $6::text[])
    WITH ORDINALITY AS i (namespace, schedule_id, fire_at, outcome, task_id, detail, ord)
), added AS (
  INSERT INTO schedule_firings (namespace, schedule_id, fire_at, outcome, task_id, detail)
  SELECT namespace, schedule_id, fire_at, outcome, task_id, detail FROM input
  ON CONFLICT DO NOTHING
  RETURNING namespace, schedule_id, fire_at
)
SELECT ord::int AS ord FROM input JOIN added USING (namespace, schedule_id, fire_at) ORDER BY ord
