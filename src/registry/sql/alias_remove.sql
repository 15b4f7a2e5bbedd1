-- $1 namespace, $2 alias
DELETE FROM capability_aliases WHERE namespace = $1 AND alias = $2
RETURNING namespace, alias, capability, changed_by, changed_at
