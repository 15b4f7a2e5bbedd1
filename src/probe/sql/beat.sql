-- This replica is there; who else is? One that was away for its lifetime comes back as a new one.
-- $1 replica_id, $2 zone, $3 ms from its first heartbeat until it counts, $4 ms that it counts after its last one
WITH me AS (
  INSERT INTO replicas AS r (replica_id, zone, active_at, heartbeat_at)
  VALUES ($1, $2, now() + $3::int * interval '1 ms', now())
  ON CONFLICT (replica_id) DO UPDATE SET
    zone = excluded.zone,
    active_at = CASE WHEN r.heartbeat_at < now() - $4::int * interval '1 ms' THEN excluded.active_at ELSE r.active_at END,
    heartbeat_at = now()
  RETURNING *
), buried AS (
  DELETE FROM replicas WHERE heartbeat_at < now() - interval '1 hour' AND replica_id <> $1
)
SELECT replica_id, zone, extract(epoch FROM active_at)::float8 * 1000 AS active_at_ms,
  extract(epoch FROM heartbeat_at)::float8 * 1000 AS heartbeat_at_ms, extract(epoch FROM now())::float8 * 1000 AS clock_ms
FROM (
  SELECT * FROM replicas WHERE replica_id <> $1 AND heartbeat_at > now() - $4::int * interval '1 ms'
  UNION ALL SELECT * FROM me
) AS present
