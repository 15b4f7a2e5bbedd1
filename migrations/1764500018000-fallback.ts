import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a task was given to in place of what it asked for: from, to, why and since when. */
export class Fallback1764500018000 implements MigrationInterface {
  name = 'Fallback1764500018000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks ADD COLUMN fallback json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks DROP COLUMN fallback`);
  }
}
