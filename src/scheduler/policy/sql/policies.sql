-- The version of each policy that holds. $1 namespace, $2 capability (null: all)
SELECT DISTINCT ON (namespace, capability) namespace, capability, version, settings, changed_by, changed_at
FROM policies WHERE ($1::text IS NULL OR namespace = $1) AND ($2::text IS NULL OR capability = $2)
ORDER BY namespace, capability, version DESC
