import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Schedules, and what came of each fire time. A firing is one row: it is inserted by the transaction that inserts the task
 * and moves `next_at`, and its key makes sure that no time fires twice.
 * `next_at` is the fire time by the expression (null: none is left), `waiting_at` one that waits for the task of an earlier
 * one to end. `due_at` is when the schedule is looked at: later than `next_at` by the jitter, or because the lane was full.
 */
export class Schedules1764500015000 implements MigrationInterface {
  name = 'Schedules1764500015000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE schedules (
        namespace      text        NOT NULL,
        schedule_id    text        NOT NULL,
        cron           text        NOT NULL,
        timezone       text        NOT NULL,
        start_at       timestamptz,
        end_at         timestamptz,
        catch_up       text        NOT NULL CHECK (catch_up IN ('none', 'last', 'all')),
        catch_up_limit smallint    NOT NULL CHECK (catch_up_limit > 0),
        jitter_ms      integer     NOT NULL CHECK (jitter_ms >= 0),
        overlap        text        NOT NULL CHECK (overlap IN ('allow', 'skip', 'queue')),
        task           json        NOT NULL,
        paused         boolean     NOT NULL DEFAULT false,
        pause_reason   text        NOT NULL DEFAULT '',
        next_at        timestamptz,
        due_at         timestamptz,
        waiting_at     timestamptz,
        problem        text,
        changed_by     text        NOT NULL,
        created_at     timestamptz NOT NULL DEFAULT now(),
        changed_at     timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (namespace, schedule_id),
        CHECK ((due_at IS NULL) = (next_at IS NULL AND waiting_at IS NULL))
      )
    `);
    await runner.query(`CREATE INDEX schedules_due ON schedules (due_at) WHERE NOT paused`);
    await runner.query(`
      CREATE TABLE schedule_firings (
        namespace   text        NOT NULL,
        schedule_id text        NOT NULL,
        fire_at     timestamptz NOT NULL,
        outcome     text        NOT NULL CHECK (outcome IN ('fired', 'triggered', 'skipped', 'missed', 'refused')),
        task_id     uuid,
        detail      text,
        noted_at    timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (namespace, schedule_id, fire_at),
        FOREIGN KEY (namespace, schedule_id) REFERENCES schedules ON DELETE CASCADE,
        CHECK ((outcome IN ('fired', 'triggered')) = (task_id IS NOT NULL))
      )
    `);
    await runner.query(`CREATE INDEX schedule_firings_age ON schedule_firings (noted_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE schedule_firings, schedules`);
  }
}
