import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whether the caller said how long a task may run; else each delivery gets what suits its agent, and `execution_timeout_ms` is
 * that of the last one. Of tasks from before nobody knows: they keep theirs.
 */
export class Timeouts1764500013000 implements MigrationInterface {
  name = 'Timeouts1764500013000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks ADD COLUMN own_timeout boolean NOT NULL DEFAULT true`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks DROP COLUMN own_timeout`);
  }
}
