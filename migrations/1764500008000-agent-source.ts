import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Agents that a source (Consul, Nacos) registered, and what of it was taken over; null: they registered themselves. */
export class AgentSource1764500008000 implements MigrationInterface {
  name = 'AgentSource1764500008000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE agents ADD COLUMN source text, ADD COLUMN source_digest text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE agents DROP COLUMN source, DROP COLUMN source_digest`);
  }
}
