import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Outbox of callbacks: a row is written by the statement that ends the task, and removed once delivered. */
export class Callbacks1764500003000 implements MigrationInterface {
  name = 'Callbacks1764500003000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE callbacks (
        task_id    uuid        NOT NULL PRIMARY KEY,
        url        text        NOT NULL,
        attempt    smallint    NOT NULL DEFAULT 0,
        next_at    timestamptz NOT NULL DEFAULT now(),
        last_error text,
        dead_at    timestamptz,
        created_at timestamptz NOT NULL DEFAULT now()
      )
    `);
    await runner.query(`CREATE INDEX callbacks_due ON callbacks (next_at) WHERE dead_at IS NULL`);
    await runner.query(`
      CREATE FUNCTION tasks_callback() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO callbacks (task_id, url) VALUES (NEW.id, NEW.callback_url) ON CONFLICT DO NOTHING;
        RETURN NULL;
      END $$
    `);
    await runner.query(`
      CREATE TRIGGER tasks_callback AFTER UPDATE ON tasks FOR EACH ROW
      WHEN (NEW.callback_url IS NOT NULL AND NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL)
      EXECUTE FUNCTION tasks_callback()
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TRIGGER tasks_callback ON tasks`);
    await runner.query(`DROP FUNCTION tasks_callback`);
    await runner.query(`DROP TABLE callbacks`);
  }
}
