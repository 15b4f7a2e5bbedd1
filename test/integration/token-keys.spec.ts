import { jwtVerify, SignJWT } from 'jose';
import type { Shutdown } from '../../src/platform/lifecycle/shutdown.js';
import { TokenKeys } from '../../src/security/token-keys.js';
import { createTestDatabase, openSql, type TestDatabase, type TestSql } from '../support/postgres.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

describe('keys of task tokens', () => {
  let database: TestDatabase;
  let replicas: TestSql[];
  const stops: (() => unknown)[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    replicas = await Promise.all([openSql(database.url), openSql(database.url), openSql(database.url)]);
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await Promise.all(replicas.map((replica) => replica.close()));
    await database.drop();
  });

  /** A replica that starts now. */
  const started = async (replica: TestSql): Promise<TokenKeys> => {
    const shutdown = { on: (_phase: string, _name: string, stop: () => unknown) => stops.push(stop) };
    const keys = new TokenKeys(
      { taskTokenRotationMs: 30 * DAY_MS },
      replica.sql,
      shutdown as unknown as Shutdown,
    );
    await keys.onApplicationBootstrap();
    return keys;
  };
  const one = () => replicas[0] as TestSql;
  const age = (kid: string, ms: number) =>
    one().sql.run(
      'test_age',
      `UPDATE token_keys SET created_at = now() - $2::float8 * interval '1 ms' WHERE kid = $1`,
      [kid, ms],
    );
  const kids = (keys: TokenKeys) => keys.published().keys.map((key) => key.kid);
  const signed = (keys: TokenKeys) => {
    const { kid, privateKey } = keys.current();
    return new SignJWT({ sub: 'x' }).setProtectedHeader({ alg: 'EdDSA', kid }).sign(privateKey);
  };

  test('replicas that start at one moment share one key', async () => {
    const all = await Promise.all(replicas.map(started));
    const [first, second] = all as [TokenKeys, TokenKeys];
    for (const keys of all) expect(kids(keys)).toEqual(kids(first));
    expect(kids(first)).toHaveLength(1);
    await expect(jwtVerify(await signed(first), second.forVerification)).resolves.toMatchObject({
      payload: { sub: 'x' },
    });
  });

  test('nothing private is published', async () => {
    const [key] = (await started(one())).published().keys;
    expect(Object.keys(key ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });

  test('a new key is shown first, signs then, and the old one stays for what it signed', async () => {
    const before = await started(one());
    const old = before.current().kid;
    const token = await signed(before);
    await age(old, 30 * DAY_MS + MINUTE_MS);

    const shown = await started(one());
    expect(kids(shown)).toHaveLength(2);
    expect(shown.current().kid).toBe(old);
    const next = kids(shown).find((kid) => kid !== old) as string;

    await age(next, 11 * MINUTE_MS);
    const after = await started(one());
    expect(after.current().kid).toBe(next);
    await expect(jwtVerify(token, after.forVerification)).resolves.toBeDefined();

    // The deliveries that it signed for are long over when the next key gives way.
    await age(old, 60 * DAY_MS);
    await age(next, 31 * DAY_MS);
    const later = await started(one());
    expect(kids(later)).not.toContain(old);
    expect(kids(later)).toHaveLength(2);
    await expect(jwtVerify(token, later.forVerification)).rejects.toThrow('no applicable key');
  });
});
