import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import { type KeyAge, keyLifeMs, shownBeforeMs, signingKey } from '../core/task-token.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { nestLog } from '../platform/embedded/log.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { LOCK_SPACE, LOCKS } from '../platform/postgres/advisory-locks.js';
import { persist } from '../platform/postgres/patient-client.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';

const KEYS = loadSql(import.meta.url, 'sql/token_keys.sql');
const KEY_ADD = loadSql(import.meta.url, 'sql/token_key_add.sql');

/** Ed25519 (RFC 8037): small tokens, and signing costs a tenth of what it does with RSA. */
export const TOKEN_ALGORITHM = 'EdDSA';
const REFRESH_MS = 60_000;
const READ_WITHIN_MS = 120_000;
/** One replica after the other: the second one finds the key of the first. */
const TURN = `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.tokenKeys})`;

interface KeyRow {
  kid: string;
  private_jwk: JWK;
  age_ms: number;
}

interface Key extends KeyAge {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** The keys of task tokens: shared through the ledger, replaced by age, the replaced ones shown as long as they are needed. */
@Injectable()
export class TokenKeys implements OnApplicationBootstrap {
  private readonly ticker: Ticker;
  private keys: readonly Key[] = [];
  /** Of the moment of the last reading, whose ages `keys` are of. */
  private readAt = 0;
  private resolve = createLocalJWKSet({ keys: [] });

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'taskTokenRotationMs'>,
    private readonly sql: Sql,
    shutdown: Shutdown,
  ) {
    // Every replica is to know a new key before the first token is signed with it.
    const everyMs = Math.min(REFRESH_MS, shownBeforeMs(config.taskTokenRotationMs) / 4);
    this.ticker = new Ticker('task token keys', everyMs, () => this.refresh());
    shutdown.on('drain', 'task token keys', () => this.ticker.stop());
  }

  async onApplicationBootstrap(): Promise<void> {
    const deadline = performance.now() + READ_WITHIN_MS;
    await persist('keys of task tokens were being read', deadline, nestLog(TokenKeys.name), () =>
      this.refresh(),
    );
    this.ticker.start();
  }

  /** The key to sign with now. */
  current(): { kid: string; privateKey: CryptoKey } {
    const sinceMs = performance.now() - this.readAt;
    const aged = this.keys.map((key) => ({ ...key, ageMs: key.ageMs + sinceMs }));
    const key = signingKey(aged, this.config.taskTokenRotationMs);
    if (key === undefined) throw new Error('no key of task tokens has been read yet');
    return key;
  }

  /** The public keys (RFC 7517), the next one among them. */
  published(): JSONWebKeySet {
    return { keys: this.keys.map((key) => key.publicJwk) };
  }

  /** Finds the public key of a token, for `jwtVerify`. */
  get forVerification(): ReturnType<typeof createLocalJWKSet> {
    return this.resolve;
  }

  private async refresh(): Promise<void> {
    const { taskTokenRotationMs } = this.config;
    let rows = await this.read();
    if (!rows.some((row) => row.age_ms < taskTokenRotationMs)) {
      const { kid, privateJwk } = await newKey();
      const params = [kid, JSON.stringify(privateJwk), taskTokenRotationMs, keyLifeMs(taskTokenRotationMs)];
      await this.sql.transaction((tx) => tx.run('token_key_add', KEY_ADD, params), TURN);
      rows = await this.read();
    }
    const readAt = performance.now();
    this.keys = await Promise.all(rows.map(toKey));
    this.readAt = readAt;
    this.resolve = createLocalJWKSet(this.published());
  }

  private async read(): Promise<KeyRow[]> {
    return (await this.sql.run<KeyRow>('token_keys', KEYS)).rows;
  }
}

async function newKey(): Promise<{ kid: string; privateJwk: JWK }> {
  const { privateKey } = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  return { kid: await calculateJwkThumbprint(privateJwk), privateJwk };
}

async function toKey({ kid, private_jwk, age_ms }: KeyRow): Promise<Key> {
  const { kty, crv, x } = private_jwk;
  return {
    kid,
    ageMs: age_ms,
    privateKey: (await importJWK(private_jwk, TOKEN_ALGORITHM)) as CryptoKey,
    // Member by member: the private part must not come along.
    publicJwk: { kty, crv, x, kid, alg: TOKEN_ALGORITHM, use: 'sig' } as JWK,
  };
}
