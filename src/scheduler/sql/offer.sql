-- Creates deliveries: raises the fence, charges an attempt, starts the ACK clock. An offer lapses when its task has to have
-- started, but for a push: that may have begun though its answer is on the way.
-- $1 ids, $2 fences before, $3 agent ids, $4 lease ids, $5 transports, $6 decisions,
-- $7 execution timeouts ms of these deliveries
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
UPDATE tasks t SET
  state = 'offered', fence = t.fence + 1, attempt = t.attempt + 1, agent_id = i.agent_id, lease_id = i.lease_id,
  transport = i.transport, decision = i.decision::json, offered_at = now(), acked_at = NULL, progress = NULL,
  execution_timeout_ms = i.execution_timeout_ms,
  deadline_at = LEAST(now() + t.ack_timeout_ms * interval '1 ms',
    CASE WHEN i.transport <> 'push' THEN t.expires_at END)
FROM unnest($1::uuid[], $2::int[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::int[])
  AS i (id, fence, agent_id, lease_id, transport, decision, execution_timeout_ms)
WHERE t.id = i.id AND t.fence = i.fence AND t.state || '' = 'queued'
RETURNING t.id, t.fence, t.deadline_at
