import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The history of agents becomes the feed of what happens to them. Beside changes of state it keeps an operator's hold
 * and release (`from_state` and `to_state` are the state at that moment), and under the namespace '' what happens to a
 * replica's prober (`agent_id` is the replica then, and there is no state).
 *
 * Ids are given when a row is made, not when it is committed, so a reader that goes by them alone passes over what
 * commits late. With `xid` it can wait: every row of a transaction before the oldest one under way is there for good.
 */
export class Feed1764500007000 implements MigrationInterface {
  name = 'Feed1764500007000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE agent_transitions
        ADD kind text NOT NULL DEFAULT 'transition'
          CHECK (kind IN ('transition', 'hold', 'release', 'doubt', 'trust')),
        ADD xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        ALTER to_state DROP NOT NULL,
        ADD CONSTRAINT agent_transitions_state CHECK ((to_state IS NULL) = (kind IN ('doubt', 'trust')))
    `);
    await runner.query(`CREATE INDEX agent_transitions_feed ON agent_transitions (namespace, xid, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX agent_transitions_feed`);
    await runner.query(`DELETE FROM agent_transitions WHERE kind <> 'transition'`);
    await runner.query(`
      ALTER TABLE agent_transitions DROP CONSTRAINT agent_transitions_state, DROP kind, DROP xid,
        ALTER to_state SET NOT NULL
    `);
  }
}
