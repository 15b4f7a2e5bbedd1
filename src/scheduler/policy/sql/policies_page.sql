-- The policies of a namespace that hold, by capability. $1 namespace, $2 the capability after which to go on, or null, $3 limit
SELECT * FROM (
  SELECT DISTINCT ON (capability) namespace, capability, version, settings, changed_by, changed_at
  FROM policies WHERE namespace = $1 AND ($2::text IS NULL OR capability > $2)
  ORDER BY capability, version DESC
) AS last WHERE settings IS NOT NULL ORDER BY capability LIMIT $3
