-- scheduled -> queued for tasks whose time has come. $1 ids, $2 fences
-- (state || '' keeps the planner off the partial indexes: see PLANNER in data-source.ts)
UPDATE tasks t SET state = 'queued', deadline_at = t.expires_at
FROM unnest($1::uuid[], $2::int[]) AS i (id, fence)
WHERE t.id = i.id AND t.fence = i.fence AND t.state || '' = 'scheduled' AND t.run_at <= now()
RETURNING t.id, t.lane
