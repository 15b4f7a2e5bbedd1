import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why an attempt or a task failed. One row per failed attempt; `final` marks the row that also ended the
 * task, so every failed or expired task has exactly one final row.
 */
export class Attributions1764500002000 implements MigrationInterface {
  name = 'Attributions1764500002000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE attributions (
        id         uuid        NOT NULL PRIMARY KEY,
        namespace  text        NOT NULL,
        task_id    uuid        NOT NULL,
        fence      integer,
        attempt    smallint    NOT NULL,
        final      boolean     NOT NULL,
        stage      text        NOT NULL
          CHECK (stage IN ('admission', 'placement', 'offer', 'execution', 'result')),
        code       text        NOT NULL,
        blame      text        NOT NULL
          CHECK (blame IN ('dependency', 'agent', 'network', 'caller', 'platform')),
        agent_id   text,
        dependency text,
        capability text        NOT NULL,
        message    text        NOT NULL,
        evidence   json        NOT NULL,
        at         timestamptz NOT NULL DEFAULT now()
      ) PARTITION BY RANGE (id)
    `);
    await runner.query(`CREATE TABLE attributions_default PARTITION OF attributions DEFAULT`);
    await runner.query(`CREATE INDEX attributions_task ON attributions (task_id)`);
    await runner.query(`CREATE INDEX attributions_time ON attributions (namespace, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE attributions`);
  }
}
