import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The ledger. A row of `tasks` is the task together with its current delivery; a row of `deliveries` is a
 * closed one, inserted once by the statement that closes it. (task_id, fence) names a delivery.
 * `deadline_at` is the next moment at which the row needs the sweep, whatever its state:
 * scheduled: run_at (or expires_at if earlier); queued: expires_at; offered: ACK; running: execution.
 */
export class Ledger1764500001000 implements MigrationInterface {
  name = 'Ledger1764500001000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE tasks (
        id                   uuid        NOT NULL PRIMARY KEY,
        namespace            text        NOT NULL,
        lane                 text        NOT NULL,
        capability           text        NOT NULL,
        payload              json        NOT NULL,
        priority             smallint    NOT NULL,
        idempotent           boolean     NOT NULL,
        affinity_key         text,
        parent_task_id       uuid,
        retry_of             uuid,
        callback_url         text,
        traceparent          text,
        ack_timeout_ms       integer     NOT NULL CHECK (ack_timeout_ms > 0),
        execution_timeout_ms integer     NOT NULL CHECK (execution_timeout_ms > 0),
        max_attempts         smallint    NOT NULL CHECK (max_attempts > 0),
        run_at               timestamptz NOT NULL,
        expires_at           timestamptz,
        state                text        NOT NULL CHECK (state IN ('scheduled', 'queued', 'offered',
                               'running', 'succeeded', 'failed', 'canceled', 'expired')),
        fence                integer     NOT NULL DEFAULT 0 CHECK (fence >= 0),
        attempt              smallint    NOT NULL DEFAULT 0 CHECK (attempt >= 0),
        tried                text[]      NOT NULL DEFAULT '{}',
        agent_id             text,
        lease_id             uuid,
        transport            text,
        offered_at           timestamptz,
        acked_at             timestamptz,
        deadline_at          timestamptz,
        progress             json,
        result               json,
        meta                 json,
        error                json,
        created_at           timestamptz NOT NULL DEFAULT now(),
        finished_at          timestamptz,
        CONSTRAINT tasks_delivery CHECK ((state IN ('offered', 'running')) = (lease_id IS NOT NULL)),
        CONSTRAINT tasks_finished CHECK
          ((state IN ('succeeded', 'failed', 'canceled', 'expired')) = (finished_at IS NOT NULL))
      ) PARTITION BY RANGE (id)
    `);
    await runner.query(`CREATE TABLE tasks_default PARTITION OF tasks DEFAULT`);
    await runner.query(`CREATE INDEX tasks_lane ON tasks (lane, priority DESC, id) WHERE state = 'queued'`);
    await runner.query(`CREATE INDEX tasks_deadline ON tasks (deadline_at)
      WHERE state IN ('scheduled', 'queued', 'offered', 'running') AND deadline_at IS NOT NULL`);
    await runner.query(`CREATE INDEX tasks_held ON tasks (namespace, agent_id)
      WHERE state IN ('offered', 'running')`);
    await runner.query(
      `CREATE INDEX tasks_failed ON tasks (namespace, id) WHERE state IN ('failed', 'expired')`,
    );
    await runner.query(
      `CREATE INDEX tasks_parent ON tasks (parent_task_id) WHERE parent_task_id IS NOT NULL`,
    );
    await runner.query(`CREATE INDEX tasks_retry_of ON tasks (retry_of) WHERE retry_of IS NOT NULL`);
    await runner.query(`
      CREATE FUNCTION tasks_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'task % may not go from % (fence %) to % (fence %)',
          OLD.id, OLD.state, OLD.fence, NEW.state, NEW.fence
          USING ERRCODE = 'check_violation', CONSTRAINT = 'tasks_terminal';
      END $$
    `);
    await runner.query(`
      CREATE TRIGGER tasks_terminal BEFORE UPDATE ON tasks FOR EACH ROW
      WHEN ((OLD.state IN ('succeeded', 'failed', 'canceled', 'expired') AND NEW.state <> OLD.state)
            OR NEW.fence < OLD.fence)
      EXECUTE FUNCTION tasks_refuse()
    `);
    await runner.query(`
      CREATE TABLE deliveries (
        task_id     uuid        NOT NULL,
        fence       integer     NOT NULL,
        namespace   text        NOT NULL,
        attempt     smallint    NOT NULL,
        agent_id    text        NOT NULL,
        lease_id    uuid        NOT NULL,
        transport   text        NOT NULL,
        outcome     text        NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'canceled', 'released')),
        code        text,
        offered_at  timestamptz NOT NULL,
        acked_at    timestamptz,
        finished_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (task_id, fence),
        CHECK ((outcome = 'failed') <= (code IS NOT NULL))
      ) PARTITION BY RANGE (task_id)
    `);
    await runner.query(`CREATE TABLE deliveries_default PARTITION OF deliveries DEFAULT`);
    await runner.query(`
      CREATE TABLE idempotency_keys (
        namespace   text        NOT NULL,
        key         text        NOT NULL,
        task_id     uuid        NOT NULL,
        body_digest text        NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (namespace, key)
      )
    `);
    await runner.query(`CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE idempotency_keys, deliveries, tasks`);
    await runner.query(`DROP FUNCTION tasks_refuse`);
  }
}
