import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How agents are chosen for a capability, and what its tasks get where they do not say it. A change is a new version; the
 * highest one holds, and one without settings says that nothing holds any more. '*' is every capability of the namespace.
 */
export class Policies1764500009000 implements MigrationInterface {
  name = 'Policies1764500009000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE policies (
        namespace  text        NOT NULL,
        capability text        NOT NULL,
        version    integer     NOT NULL CHECK (version > 0),
        settings   jsonb,
        changed_by text        NOT NULL,
        changed_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (namespace, capability, version)
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE policies`);
  }
}
