import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryLock } from '../../src/platform/embedded/directory-lock.js';
import { connectPatiently } from '../../src/platform/postgres/patient-client.js';
import { createTestDatabase, silentLogger, type TestDatabase } from '../support/postgres.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWithRedisServer } from '../support/redis.js';

/* What the built server tells a person when it cannot start, and how it ends. */

const root = join(import.meta.dirname, '../..');
let directory: string;
let database: TestDatabase;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'reach-start-')));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

interface Ended {
  code: number;
  out: string;
  err: string;
}

function run(args: string[], env: Record<string, string>, cwd = root): Promise<Ended> {
  return new Promise((resolve) => {
    const inherited = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
    execFile(
      process.execPath,
      args,
      { cwd, env: { ...inherited, ...env }, timeout: 90_000 },
      (error, out, err) => resolve({ code: error ? Number(error.code ?? 99) : 0, out, err }),
    );
  });
}

/** Ends with 1, one line on stderr, and no error in the log. */
async function expectOneSentence(
  args: string[],
  env: Record<string, string>,
  sentence: RegExp,
): Promise<void> {
  const { code, out, err } = await run(args, { REACH_HTTP_PORT: '0', ...env });
  expect(err).toMatch(sentence);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  expect(out).not.toMatch(/"level":"error"|\bat \S+ \(/);
  expect(code).toBe(1);
}

const SERVER = ['dist/main.js'];
const COMMAND = ['dist/cli/main.js', 'serve'];

it('names the owner of a data directory that is in use', async () => {
  const postgres = join(directory, 'used', 'postgres');
  await mkdir(postgres, { recursive: true });
  const lock = await DirectoryLock.acquire(postgres);
  await expectOneSentence(
    COMMAND,
    { REACH_DATA_DIR: join(directory, 'used') },
    new RegExp(`in use by process ${process.pid}\\b.*REACH_DATA_DIR`),
  );
  await lock.release();
});

it('names a data directory that cannot be written', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');
  await expectOneSentence(SERVER, { REACH_DATA_DIR: file }, /cannot be used by this user .*REACH_DATA_DIR/);
});

it('names a data directory that cannot be made, where Node itself would try for ever', async () => {
  await expectOneSentence(SERVER, { REACH_DATA_DIR: '/proc/x' }, /\/proc\/x.*REACH_DATA_DIR/);
});

it('names the port that is taken', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await expectOneSentence(
    SERVER,
    { DATABASE_URL: database.url, REACH_HTTP_PORT: String(port) },
    new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use.*REACH_HTTP_PORT`),
  );
  await new Promise((resolve) => taken.close(resolve));
});

it('says that Postgres refuses the connection', async () => {
  await expectOneSentence(
    SERVER,
    { DATABASE_URL: `${database.url}_nope` },
    /^Postgres refuses the connection: .*does not exist.*DATABASE_URL/,
  );
});

it('says that Postgres does not answer, in a sentence too, once it has waited', async () => {
  const connecting = connectPatiently('postgres://127.0.0.1:1/x', 'test', 0, silentLogger);
  await expect(connecting).rejects.toMatchObject({
    message: expect.stringMatching(/^Postgres does not answer: .*ECONNREFUSED.*DATABASE_URL/) as string,
  });
});

describeWithRedisServer('a Redis that answers, and refuses what REDIS_URL says', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start({ password: 'secret' });
  });
  afterAll(() => redis.stop());
  const url = (credentials: string, path = '') => redis.url.replace('://', `://${credentials}`) + path;

  it.each([
    ['a wrong password', ':wrong@', '', /user or password are wrong \(WRONGPASS/],
    ['no password', '', '', /it wants a password, and there is none \(NOAUTH/],
    [
      'a database that is not there',
      ':secret@',
      '/77',
      /there is no such database \(ERR DB index is out of range\)/,
    ],
  ])('%s', async (_what, credentials, path, why) => {
    const env = { DATABASE_URL: database.url, REDIS_URL: url(credentials, path), REACH_HTTP_PORT: '0' };
    // Everybody who connects logs a warning; what ends the start is said once.
    const { code, out, err } = await run(SERVER, env);
    expect(err).toMatch(new RegExp(`^Redis refuses what REDIS_URL says: ${why.source}`));
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).not.toContain('secret');
    expect(out).not.toContain('"level":"error"');
    expect(code).toBe(1);
  });
});

it('says which form a REDIS_URL has; a wrong configuration ends with 2', async () => {
  const { code, err } = await run(SERVER, { REDIS_URL: 'redis:/x', DATABASE_URL: database.url });
  expect(code).toBe(2);
  expect(err).toMatch(/- REDIS_URL must look like redis:\/\/host:6379/);
  expect(err).not.toMatch(/\n +at /);
});

it('builds before the first start, and only then', async () => {
  const fresh = join(directory, 'fresh');
  await mkdir(fresh);
  const build = `node -e "fs.mkdirSync('dist'); fs.writeFileSync('dist/main.js', '')"`;
  await writeFile(join(fresh, 'package.json'), JSON.stringify({ scripts: { build } }));
  const script = join(root, 'scripts/build-when-missing.mjs');
  const first = await run([script], {}, fresh);
  expect(first).toMatchObject({ code: 0, err: expect.stringContaining('npm run build') as string });
  expect(existsSync(join(fresh, 'dist/main.js'))).toBe(true);
  // Once more would fail: the folder is there.
  expect(await run([script], {}, fresh)).toEqual({ code: 0, out: '', err: '' });
});
