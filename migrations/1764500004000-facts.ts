import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is known about an agent, beside its state; an operator's hold, beside both; and a guard that lets a state
 * change only as the table of transitions says (`AGENT_TRANSITIONS` in src/core/agent-state.ts). A new lease is a new
 * registration, which leads out of every state.
 */
export class Facts1764500004000 implements MigrationInterface {
  name = 'Facts1764500004000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE agents
        ADD facts       jsonb       NOT NULL DEFAULT '{}',
        ADD features    text[]      NOT NULL DEFAULT '{}',
        ADD hold_reason text,
        ADD held_since  timestamptz,
        ADD CONSTRAINT agents_hold CHECK ((hold_reason IS NULL) = (held_since IS NULL))
    `);
    // Until now nothing but silence or a broken session made an agent suspicious, and its next heartbeat cleared it.
    await runner.query(`UPDATE agents SET facts = '{"heartbeat": "missed"}' WHERE state = 'suspicious'`);
    await runner.query(`ALTER TABLE agent_transitions ADD evidence jsonb NOT NULL DEFAULT '{}'`);
    await runner.query(`
      CREATE FUNCTION agents_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'agent % may not go from % to % without a new registration',
          OLD.agent_id, OLD.state, NEW.state
          USING ERRCODE = 'check_violation', CONSTRAINT = 'agents_transition';
      END $$
    `);
    await runner.query(`
      CREATE TRIGGER agents_transition BEFORE UPDATE ON agents FOR EACH ROW
      WHEN (NEW.state <> OLD.state AND NEW.lease_id = OLD.lease_id AND (OLD.state || ' > ' || NEW.state) NOT IN (
        'online > degraded', 'online > suspicious', 'online > offline', 'online > removing',
        'degraded > online', 'degraded > suspicious', 'degraded > offline', 'degraded > removing',
        'suspicious > online', 'suspicious > degraded', 'suspicious > offline', 'suspicious > removing',
        'offline > removing'))
      EXECUTE FUNCTION agents_refuse()
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TRIGGER agents_transition ON agents`);
    await runner.query(`DROP FUNCTION agents_refuse`);
    await runner.query(`ALTER TABLE agent_transitions DROP evidence`);
    await runner.query(`ALTER TABLE agents DROP facts, DROP features, DROP hold_reason, DROP held_since`);
  }
}
