-- $1 namespace, $2 after alias, $3 limit
SELECT namespace, alias, capability, changed_by, changed_at FROM capability_aliases
WHERE namespace = $1 AND ($2::text IS NULL OR alias > $2) ORDER BY alias LIMIT $3
