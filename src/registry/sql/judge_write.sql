-- Writes facts and what was judged from them, many agents in one statement, each guarded by its lease and by the facts
-- and the state that were read: a row that changed in between is not touched, and does not come back.
-- $1 namespaces, $2 agent_ids, $3 lease_ids, $4 facts read, $5 states read, $6 new facts, $7 new states, $8 reasons,
-- $9 whether others have to hear of it (a new revision), $10 judged facts and $11 evidence for the history
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::boolean[], $10::text[], $11::text[]) WITH ORDINALITY
    AS i (namespace, agent_id, lease_id, facts_read, from_state, facts, to_state, reason, notable, judged, evidence, ord)
), locked AS (
  -- one order for all writers of several agents, as in heartbeat.sql
  SELECT i.* FROM agents a JOIN input i USING (namespace, agent_id)
  ORDER BY a.namespace, a.agent_id FOR NO KEY UPDATE OF a
), changed AS (
  UPDATE agents a SET
    facts = i.facts::jsonb,
    state = i.to_state,
    state_reason = i.reason,
    state_since = CASE WHEN i.to_state = i.from_state THEN a.state_since ELSE now() END,
    rev = CASE WHEN i.notable THEN nextval('agents_rev_seq') ELSE a.rev END
  FROM locked i
  WHERE a.namespace = i.namespace AND a.agent_id = i.agent_id AND a.lease_id = i.lease_id
    AND a.state = i.from_state AND a.facts = i.facts_read::jsonb AND a.removed_at IS NULL
  RETURNING i.ord, a.*
), noted AS (
  INSERT INTO agent_transitions (id, namespace, agent_id, from_state, to_state, reason, facts, evidence)
  SELECT reach_uuid_v7(), i.namespace, i.agent_id, i.from_state, i.to_state, i.reason, i.judged::jsonb,
    i.evidence::jsonb
  FROM changed JOIN input i USING (ord) WHERE i.from_state <> i.to_state
)
SELECT * FROM changed
