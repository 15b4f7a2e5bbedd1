-- $1 digests, $2 policies
INSERT INTO followed_policies (digest, policy) SELECT digest, policy::jsonb FROM unnest($1::text[], $2::text[]) AS i (digest, policy)
ORDER BY digest ON CONFLICT DO NOTHING
