-- $1 namespace, $2 capability, $3 paused, $4 reason
INSERT INTO capability_switches (namespace, capability, paused, reason) VALUES ($1, $2, $3, $4)
ON CONFLICT (namespace, capability) DO UPDATE SET paused = excluded.paused, reason = excluded.reason, changed_at = now()
