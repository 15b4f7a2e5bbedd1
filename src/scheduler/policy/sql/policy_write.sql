-- The next version of a policy, unless another one than was expected holds, or somebody else writes it now: then no row.
-- $1 namespace, $2 capability, $3 settings (null: none hold any more), $4 by whom, $5 version expected (null: any)
INSERT INTO policies (namespace, capability, version, settings, changed_by)
SELECT $1, $2, COALESCE(max(version), 0) + 1, $3::jsonb, $4
FROM policies WHERE namespace = $1 AND capability = $2
HAVING ($5::int IS NULL OR COALESCE(max(version), 0) = $5)
  -- what is not there is not removed
  AND ($3::jsonb IS NOT NULL OR (array_agg(settings ORDER BY version DESC))[1] IS NOT NULL)
ON CONFLICT DO NOTHING
RETURNING namespace, capability, version, settings, changed_by, changed_at
