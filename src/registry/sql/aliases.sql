SELECT namespace, alias, capability, changed_by, changed_at FROM capability_aliases
