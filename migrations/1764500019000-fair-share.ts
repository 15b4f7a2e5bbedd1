import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The order within a lane as one number, given as a task is admitted: callers take turns, and a point of priority is a head
 * start. Until replicas of the version before are gone they sort what they pick.
 */
export class FairShare1764500019000 implements MigrationInterface {
  name = 'FairShare1764500019000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks ADD COLUMN rank bigint NOT NULL DEFAULT 0`);
    await runner.query(`CREATE INDEX tasks_rank ON tasks (lane, rank, id) WHERE state = 'queued'`);
    await runner.query(`DROP INDEX tasks_lane`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX tasks_lane ON tasks (lane, priority DESC, id) WHERE state = 'queued'`);
    await runner.query(`ALTER TABLE tasks DROP COLUMN rank`);
  }
}
