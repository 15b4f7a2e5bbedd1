import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The last tasks of a schedule, found however many fire times were skipped since. */
export class FiringTasks1764500020000 implements MigrationInterface {
  name = 'FiringTasks1764500020000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX schedule_firings_tasks ON schedule_firings (namespace, schedule_id, fire_at)
      WHERE task_id IS NOT NULL
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX schedule_firings_tasks`);
  }
}
