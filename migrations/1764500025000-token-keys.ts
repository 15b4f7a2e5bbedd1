import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys that sign task tokens: every replica signs with the same ones, and answers for what the others signed. */
export class TokenKeys1764500025000 implements MigrationInterface {
  name = 'TokenKeys1764500025000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE token_keys (
        kid         text        PRIMARY KEY,
        private_jwk json        NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now()
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE token_keys`);
  }
}
