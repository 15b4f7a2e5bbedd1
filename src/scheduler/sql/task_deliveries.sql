-- Closed deliveries of a task, oldest first, each with the policy by which its agent was chosen. $1 task id
SELECT d.fence, d.attempt, d.agent_id, d.transport, d.outcome, d.code, d.offered_at, d.acked_at, d.finished_at,
  d.decision, p.policy
FROM deliveries d LEFT JOIN followed_policies p ON p.digest = d.decision ->> 1
WHERE d.task_id = $1 ORDER BY d.fence
