-- Cancels open tasks; a delivery that is open is closed with them.
-- $1 task ids, $2 namespaces
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS i (task_id, namespace, ord)
), held AS (
  SELECT t.id, t.state, t.lease_id, t.fence FROM tasks t JOIN input i ON i.task_id = t.id
  WHERE t.state || '' IN ('scheduled', 'queued', 'offered', 'running') AND t.namespace = i.namespace
  ORDER BY t.id FOR NO KEY UPDATE OF t
), canceled AS (
  UPDATE tasks t SET state = 'canceled', lease_id = NULL, deadline_at = NULL, finished_at = now()
  FROM held h
  WHERE t.id = h.id AND t.fence = h.fence AND t.state = h.state
  RETURNING t.id, t.fence, t.namespace, t.attempt, t.agent_id, t.transport, t.offered_at, t.acked_at, t.lane,
    t.capability, t.decision, h.state AS was, h.lease_id
), closed AS (
  INSERT INTO deliveries (task_id, fence, namespace, attempt, agent_id, lease_id, transport, outcome, code,
    offered_at, acked_at, decision)
  SELECT id, fence, namespace, attempt, agent_id, lease_id, transport, 'canceled', 'CANCELED', offered_at, acked_at,
    decision
  FROM canceled WHERE was IN ('offered', 'running')
)
-- a task that was asked for twice is canceled by the first
SELECT DISTINCT ON (c.id) i.ord::int AS ord, c.fence, c.was, c.lane, c.agent_id, c.namespace, c.capability
FROM input i JOIN canceled c ON c.id = i.task_id
ORDER BY c.id, i.ord
