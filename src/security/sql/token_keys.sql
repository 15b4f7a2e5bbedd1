-- Every key that signs task tokens, or signed one that may still hold.
SELECT kid, private_jwk, (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms FROM token_keys
