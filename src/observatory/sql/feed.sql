-- What happened in a namespace, and to the probers of the replicas (namespace ''), after a position, in the order of
-- (xid, id). Only rows of transactions that came before every one under way: nothing can appear between them any more.
-- One row at least: `horizon` is the first transaction that is not told yet, `pending` whether it, or a later one, has
-- something to tell already.
-- $1 namespace, $2 after this xid, $3 after this id in it, $4 agent_id or null, $5 kinds or null, $6 most
WITH seen AS (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon)
SELECT seen.horizon::text AS horizon,
  EXISTS (SELECT 1 FROM agent_transitions WHERE namespace IN ($1, '') AND xid >= seen.horizon) AS pending,
  e.*
FROM seen LEFT JOIN LATERAL (
  SELECT id, xid::text AS xid, kind, at, namespace, agent_id, from_state, to_state, reason, facts, evidence
  FROM agent_transitions t
  WHERE t.namespace IN ($1, '') AND (t.xid, t.id) > ($2::xid8, $3::uuid) AND t.xid < seen.horizon
    AND ($4::text IS NULL OR t.agent_id = $4) AND ($5::text[] IS NULL OR t.kind = ANY($5))
  ORDER BY t.xid, t.id LIMIT $6::int
) e ON true
ORDER BY e.xid::xid8, e.id
