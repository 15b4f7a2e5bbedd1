-- Versions of one policy, newest first. $1 namespace, $2 capability, $3 limit
SELECT namespace, capability, version, settings, changed_by, changed_at
FROM policies WHERE namespace = $1 AND capability = $2 ORDER BY version DESC LIMIT $3
