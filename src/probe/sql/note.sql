-- What happened to the prober of a replica, for the feed of events. $1 doubt or trust, $2 replica, $3 reason, $4 evidence,
-- $5 when
INSERT INTO agent_transitions (id, kind, namespace, agent_id, reason, evidence, at)
VALUES (reach_uuid_v7(), $1, '', $2, $3, $4::jsonb, $5)
