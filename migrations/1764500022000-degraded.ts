import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The outbox of webhooks tells of more than ends: that a task went to a fallback, or failed as nobody could be reached for it.
 * These go to whom the policy names, as long and as often as it says.
 */
export class Degraded1764500022000 implements MigrationInterface {
  name = 'Degraded1764500022000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE callbacks
        ADD kind text NOT NULL DEFAULT 'ended' CHECK (kind IN ('ended', 'degraded', 'unplaceable')),
        ADD timeout_ms integer,
        ADD max_attempts smallint,
        DROP CONSTRAINT callbacks_pkey,
        ADD PRIMARY KEY (task_id, kind)
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM callbacks WHERE kind <> 'ended'`);
    await runner.query(`
      ALTER TABLE callbacks DROP CONSTRAINT callbacks_pkey, DROP kind, DROP timeout_ms, DROP max_attempts,
        ADD PRIMARY KEY (task_id)
    `);
  }
}
