-- A result of the current delivery ends the task. (offered: only a push agent may finish before its ACK is known.)
-- $1 task ids, $2 fences, $3 lease ids, $4 results, $5 metas
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
WITH done AS (
  UPDATE tasks t SET state = 'succeeded', result = i.result::json, meta = i.meta::json, lease_id = NULL,
    deadline_at = NULL, finished_at = now()
  FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::text[])
    WITH ORDINALITY AS i (task_id, fence, lease_id, result, meta, ord)
  WHERE t.id = i.task_id AND t.fence = i.fence AND t.lease_id = i.lease_id
    AND (t.state || '' = 'running' OR (t.state || '' = 'offered' AND t.transport = 'push'))
  RETURNING i.ord, t.id, t.fence, t.namespace, t.attempt, t.agent_id, i.lease_id, t.transport, t.offered_at,
    t.acked_at, t.finished_at, t.lane, t.capability, t.decision
), closed AS (
  INSERT INTO deliveries (task_id, fence, namespace, attempt, agent_id, lease_id, transport, outcome,
    offered_at, acked_at, decision)
  SELECT id, fence, namespace, attempt, agent_id, lease_id, transport, 'succeeded', offered_at, acked_at, decision
  FROM done
)
SELECT ord::int AS ord, namespace, agent_id, lane, capability,
  (extract(epoch FROM finished_at - COALESCE(acked_at, offered_at)) * 1000)::float8 AS ran_ms
FROM done
