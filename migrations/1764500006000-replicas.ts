import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The replicas that are there, so that they can share what one of them has to do. */
export class Replicas1764500006000 implements MigrationInterface {
  name = 'Replicas1764500006000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE replicas (
        replica_id   text        NOT NULL PRIMARY KEY,
        zone         text,
        active_at    timestamptz NOT NULL,
        heartbeat_at timestamptz NOT NULL
      ) WITH (fillfactor = 50)
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE replicas`);
  }
}
