import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The agents that handle the ancestors of a task, the oldest first: copied at the insert, so that nobody has to climb. */
export class CallChains1764500017000 implements MigrationInterface {
  name = 'CallChains1764500017000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks ADD COLUMN chain json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks DROP COLUMN chain`);
  }
}
