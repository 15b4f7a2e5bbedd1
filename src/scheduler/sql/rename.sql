-- Tasks of a lane that is named by an alias go to the lane of the capability. How many. What a pass has locked is being offered,
-- and stays. $1 lane, $2 lane of the capability, $3 its label, $4 how many
WITH waiting AS (
  SELECT id FROM tasks WHERE lane = $1 AND state = 'queued' ORDER BY rank, id LIMIT $4
  FOR UPDATE SKIP LOCKED
)
UPDATE tasks t SET lane = $2, capability = $3, asked = COALESCE(t.asked, t.capability)
FROM waiting w WHERE t.id = w.id AND t.state || '' = 'queued'
