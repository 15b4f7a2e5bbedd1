-- The reach table's truth.
SELECT * FROM agents WHERE removed_at IS NULL
