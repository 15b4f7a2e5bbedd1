-- Offers that went by inbox and were not acknowledged. $1 how many
SELECT id, namespace, lane, capability, fence, lease_id, agent_id, transport, attempt, max_attempts, idempotent
FROM tasks WHERE state = 'offered' AND transport = 'pull' LIMIT $1
