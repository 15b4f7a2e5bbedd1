import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why each delivery went to its agent, and the policies that were followed: as whole texts under their digest, so that an
 * old decision is made again by the policy of its day, whatever the defaults are by then.
 */
export class Decisions1764500010000 implements MigrationInterface {
  name = 'Decisions1764500010000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE followed_policies (digest text NOT NULL PRIMARY KEY, policy jsonb NOT NULL)`,
    );
    await runner.query(`ALTER TABLE tasks ADD COLUMN decision json`);
    await runner.query(`ALTER TABLE deliveries ADD COLUMN decision json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE deliveries DROP COLUMN decision`);
    await runner.query(`ALTER TABLE tasks DROP COLUMN decision`);
    await runner.query(`DROP TABLE followed_policies`);
  }
}
