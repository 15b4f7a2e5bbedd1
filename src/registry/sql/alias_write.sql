-- An alias leads to a capability in one step: where the target is an alias itself, or others lead to this one, no row.
-- $1 namespace, $2 alias, $3 capability, $4 by whom
INSERT INTO capability_aliases (namespace, alias, capability, changed_by)
SELECT $1, $2, $3, $4
WHERE NOT EXISTS (SELECT FROM capability_aliases WHERE namespace = $1 AND (alias = $3 OR capability = $2))
ON CONFLICT (namespace, alias) DO UPDATE SET
  capability = excluded.capability, changed_by = excluded.changed_by, changed_at = now()
RETURNING namespace, alias, capability, changed_by, changed_at
