import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a task must have ended, whatever became of it until then; its `expires_at` is no later. */
export class TaskTimeouts1764500014000 implements MigrationInterface {
  name = 'TaskTimeouts1764500014000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks ADD COLUMN ends_at timestamptz`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks DROP COLUMN ends_at`);
  }
}
