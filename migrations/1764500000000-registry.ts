import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Agents with their fenced leases, the history of their states, and the per-capability switch. */
export class Registry1764500000000 implements MigrationInterface {
  name = 'Registry1764500000000';

  async up(runner: QueryRunner): Promise<void> {
    // UUID v7 (RFC 9562) made by the database: 48 bits of its clock in ms, then random bits.
    await runner.query(`
      CREATE FUNCTION reach_uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
        SELECT encode(
          set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
              PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
              FROM 1 FOR 6),
            52, 1), 53, 1), 'hex')::uuid
      $$
    `);
    await runner.query(`
      CREATE TABLE agents (
        namespace             text        NOT NULL,
        agent_id              text        NOT NULL,
        name                  text        NOT NULL,
        capabilities          jsonb       NOT NULL,
        dependencies          jsonb       NOT NULL DEFAULT '[]',
        transport             text        NOT NULL CHECK (transport IN ('pull', 'session', 'push')),
        endpoint              text,
        max_concurrency       integer     NOT NULL CHECK (max_concurrency BETWEEN 1 AND 100000),
        weight                integer     NOT NULL DEFAULT 100 CHECK (weight BETWEEN 1 AND 10000),
        tags                  text[]      NOT NULL DEFAULT '{}',
        metadata              jsonb       NOT NULL DEFAULT '{}',
        heartbeat_interval_ms integer     NOT NULL,
        lease_ttl_ms          integer     NOT NULL,
        lease_id              uuid        NOT NULL,
        lease_expires_at      timestamptz NOT NULL,
        last_heartbeat_at     timestamptz NOT NULL,
        capacity              jsonb,
        state                 text        NOT NULL
          CHECK (state IN ('online', 'degraded', 'suspicious', 'offline', 'removing')),
        state_reason          text        NOT NULL,
        state_since           timestamptz NOT NULL,
        drain_until           timestamptz,
        removed_at            timestamptz,
        registered_at         timestamptz NOT NULL,
        rev                   bigint      NOT NULL,
        PRIMARY KEY (namespace, agent_id),
        CHECK ((transport = 'push') <= (endpoint IS NOT NULL)),
        CHECK ((state = 'removing') = (drain_until IS NOT NULL))
      ) WITH (fillfactor = 70)
    `);
    await runner.query(`CREATE SEQUENCE agents_rev_seq AS bigint CACHE 1`);
    await runner.query(`CREATE INDEX agents_lease ON agents (lease_expires_at)
      WHERE state IN ('online', 'degraded', 'suspicious')`);
    await runner.query(`
      CREATE TABLE agent_transitions (
        id          uuid        NOT NULL PRIMARY KEY,
        namespace   text        NOT NULL,
        agent_id    text        NOT NULL,
        from_state  text,
        to_state    text        NOT NULL
          CHECK (to_state IN ('online', 'degraded', 'suspicious', 'offline', 'removing')),
        reason      text        NOT NULL,
        facts       jsonb       NOT NULL DEFAULT '{}',
        at          timestamptz NOT NULL DEFAULT now()
      ) PARTITION BY RANGE (id)
    `);
    await runner.query(`CREATE TABLE agent_transitions_default PARTITION OF agent_transitions DEFAULT`);
    await runner.query(`CREATE INDEX agent_transitions_agent ON agent_transitions (namespace, agent_id, id)`);
    await runner.query(`
      CREATE TABLE capability_switches (
        namespace  text        NOT NULL,
        capability text        NOT NULL,
        paused     boolean     NOT NULL,
        reason     text        NOT NULL DEFAULT '',
        changed_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (namespace, capability)
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE capability_switches, agent_transitions, agents`);
    await runner.query(`DROP SEQUENCE agents_rev_seq`);
    await runner.query(`DROP FUNCTION reach_uuid_v7`);
  }
}
