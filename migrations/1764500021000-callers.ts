import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who submitted a task (null: nobody in particular): what comes due later, or goes to another lane, takes turns by it too. */
export class Callers1764500021000 implements MigrationInterface {
  name = 'Callers1764500021000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks ADD COLUMN caller text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks DROP COLUMN caller`);
  }
}
