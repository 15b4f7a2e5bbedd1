-- $1 namespace, $2 task_id, $3 code, $4 blame, $5 agent_id, $6 dependency, $7 capability, $8 since, $9 until,
-- $10 group by
SELECT CASE $10::text
    WHEN 'code' THEN code WHEN 'blame' THEN blame WHEN 'agent_id' THEN agent_id
    WHEN 'dependency' THEN dependency WHEN 'capability' THEN capability WHEN 'stage' THEN stage END AS key,
  count(*) FILTER (WHERE fence IS NOT NULL)::int AS attempts,
  count(*) FILTER (WHERE final)::int AS tasks,
  max(at) AS last_at
FROM attributions
WHERE namespace = $1
  AND ($2::uuid IS NULL OR task_id = $2)
  AND ($3::text IS NULL OR code = $3)
  AND ($4::text IS NULL OR blame = $4)
  AND ($5::text IS NULL OR agent_id = $5)
  AND ($6::text IS NULL OR dependency = $6)
  AND ($7::text IS NULL OR capability = $7)
  AND ($8::timestamptz IS NULL OR at >= $8)
  AND ($9::timestamptz IS NULL OR at < $9)
GROUP BY 1
ORDER BY count(*) DESC, 1
LIMIT 500
