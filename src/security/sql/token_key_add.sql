-- Adds a key unless there is one that is young enough, and forgets those that are too old for anything.
-- $1 id, $2 private key as JWK, $3 ms after which there is to be a new one, $4 ms after which one is forgotten
WITH forgotten AS (
  DELETE FROM token_keys WHERE created_at < now() - $4::float8 * interval '1 ms'
)
INSERT INTO token_keys (kid, private_jwk)
SELECT $1::text, $2::json
WHERE NOT EXISTS (SELECT 1 FROM token_keys WHERE created_at > now() - $3::float8 * interval '1 ms')
