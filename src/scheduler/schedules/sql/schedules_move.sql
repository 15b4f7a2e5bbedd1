-- When schedules are looked at again. They are locked by the transaction.
-- $1 namespaces, $2 schedule ids, $3 next fire times, $4 due times, $5 waiting fire times, $6 problems
UPDATE schedules s SET next_at = i.next_at, due_at = i.due_at, waiting_at = i.waiting_at, problem = i.problem
FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::text[])
  AS i (namespace, schedule_id, next_at, due_at, waiting_at, problem)
WHERE s.namespace = i.namespace AND s.schedule_id = i.schedule_id
