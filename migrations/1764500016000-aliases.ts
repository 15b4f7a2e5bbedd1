import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Other names of capabilities; and the name that a task asked for, where that was one of them. */
export class Aliases1764500016000 implements MigrationInterface {
  name = 'Aliases1764500016000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE capability_aliases (
        namespace  text        NOT NULL,
        alias      text        NOT NULL,
        capability text        NOT NULL,
        changed_by text        NOT NULL,
        changed_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (namespace, alias),
        CHECK (alias <> capability)
      )
    `);
    await runner.query(
      `CREATE INDEX capability_aliases_target ON capability_aliases (namespace, capability)`,
    );
    await runner.query(`ALTER TABLE tasks ADD COLUMN asked text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tasks DROP COLUMN asked`);
    await runner.query(`DROP TABLE capability_aliases`);
  }
}
