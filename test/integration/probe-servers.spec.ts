import type { Socket } from 'node:net';
import { Redis } from 'ioredis';
import pg from 'pg';
import { AddressGuard } from '../../src/platform/outbound/address-guard.js';
import { Credentials } from '../../src/platform/outbound/credentials.js';
import { mysqlProber } from '../../src/probe/probers/mysql.js';
import { natsProber } from '../../src/probe/probers/nats.js';
import { postgresProber } from '../../src/probe/probers/postgres.js';
import { redisProber } from '../../src/probe/probers/redis.js';
import { TEST_CERT, TEST_KEY } from '../support/certificate.js';
import { startTcp } from '../support/hostile-server.js';
import { describeWith, PASSWORD, startMariadb, startNats, USER } from '../support/packaged-servers.js';
import { startPrivatePostgres } from '../support/postgres.js';
import { CLOSED, openGuard, probeOnce } from '../support/probing.js';
import { describeWithRedisServer } from '../support/redis.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const credentials = new Credentials('', {
  REACH_CREDENTIAL_RIGHT: PASSWORD,
  REACH_CREDENTIAL_WRONG: 'wrong-secret',
});
const RIGHT = 'env:REACH_CREDENTIAL_RIGHT';
const WRONG = 'env:REACH_CREDENTIAL_WRONG';
const OK = { ok: true, slow: false };
const bad = (fault: string) => ({ ok: false, fault });

const probers = {
  postgres: postgresProber(openGuard, credentials),
  mysql: mysqlProber(openGuard, credentials),
  redis: redisProber(openGuard, credentials),
  nats: natsProber(openGuard, credentials),
};
type Kind = keyof typeof probers;
const KINDS = Object.keys(probers) as Kind[];

function ask(kind: Kind, target: string, more: object = {}, limits = {}) {
  return probeOnce(probers[kind] as (typeof probers)['redis'], { target, ...more }, limits);
}

describe('PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPrivatePostgres>>;
  let at: (user: string, database: string) => string;
  beforeAll(async () => {
    server = await startPrivatePostgres();
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query(`CREATE ROLE ${USER} LOGIN PASSWORD '${PASSWORD}'`);
    await admin.end();
    const { host } = new URL(server.url);
    at = (user, database) => `postgres://${user}@${host}/${database}`;
  });
  afterAll(() => server.stop());

  it('answers', async () => {
    expect(await ask('postgres', at(USER, 'reach'), { credential: RIGHT })).toMatchObject(OK);
  });

  it.each([
    ['a wrong password', USER, 'reach', { credential: WRONG }, 'unauthorized'],
    ['no password', USER, 'reach', {}, 'unauthorized'],
    ['an unknown role', 'nobody', 'reach', { credential: RIGHT }, 'unauthorized'],
    ['a database that is not there', USER, 'gone', { credential: RIGHT }, 'contract'],
    ['TLS that it does not speak', USER, 'reach', { credential: RIGHT, options: { tls: 'verify' } }, 'tls'],
  ])('refuses %s', async (_, user, database, more, fault) => {
    expect(await ask('postgres', at(user, database), more)).toMatchObject(bad(fault));
  });

  it('is never shown a password of the dispatcher', async () => {
    process.env['PGPASSWORD'] = PASSWORD;
    try {
      expect(await ask('postgres', at(USER, 'reach'))).toMatchObject(bad('unauthorized'));
    } finally {
      delete process.env['PGPASSWORD'];
    }
  });

  it('is frozen, and comes back', async () => {
    server.pause();
    const frozen = await ask('postgres', at(USER, 'reach'), { credential: RIGHT }, { firstByteMs: 100 });
    server.resume();
    expect(frozen).toMatchObject(bad('first_byte_timeout'));
    expect(await ask('postgres', at(USER, 'reach'), { credential: RIGHT })).toMatchObject(OK);
  });
});

describeWith('mariadbd', 'mariadb-server-core')('MariaDB', () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  const at = (user: string, database: string) => `mysql://${user}@127.0.0.1:${server.port}/${database}`;
  beforeAll(async () => {
    server = await startMariadb({ key: TEST_KEY, cert: TEST_CERT });
  });
  afterAll(() => server.stop());

  it('answers, with TLS and without', async () => {
    expect(await ask('mysql', at(USER, 'app'), { credential: RIGHT })).toMatchObject(OK);
    const tls = { credential: RIGHT, options: { tls: 'insecure' } };
    expect(await ask('mysql', at(USER, 'app'), tls)).toMatchObject(OK);
  });

  it.each([
    ['a wrong password', USER, 'app', { credential: WRONG }, 'unauthorized'],
    ['no password', USER, 'app', {}, 'unauthorized'],
    ['an unknown user', 'nobody', 'app', { credential: RIGHT }, 'unauthorized'],
    ['a database that is not the user’s', USER, 'mysql', { credential: RIGHT }, 'unauthorized'],
  ])('refuses %s', async (_, user, database, more, fault) => {
    expect(await ask('mysql', at(user, database), more)).toMatchObject(bad(fault));
  });

  it('is not trusted when its certificate is nobody’s', async () => {
    const tls = { credential: RIGHT, options: { tls: 'verify' } };
    expect(await ask('mysql', at(USER, 'app'), tls)).toMatchObject(bad('tls'));
  });

  it('is frozen', async () => {
    server.pause();
    const frozen = await ask('mysql', at(USER, 'app'), { credential: RIGHT }, { firstByteMs: 100 });
    server.resume();
    expect(frozen).toMatchObject(bad('first_byte_timeout'));
  });
});

describeWithRedisServer('Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('answers', async () => {
    expect(await ask('redis', server.url)).toMatchObject({ ...OK, detail: 'PONG' });
    expect(await ask('redis', `${server.url}/3`)).toMatchObject(OK);
  });

  it('refuses a database that it does not have, and credentials that it does not know', async () => {
    expect(await ask('redis', `${server.url}/9999`)).toMatchObject(bad('contract'));
    expect(await ask('redis', server.url, { credential: RIGHT })).toMatchObject(bad('unauthorized'));
    const client = new Redis(server.url);
    await client.config('SET', 'requirepass', PASSWORD);
    const named = server.url.replace('//', '//nobody@');
    expect(await ask('redis', server.url, { credential: RIGHT })).toMatchObject(OK);
    expect(await ask('redis', server.url, { credential: WRONG })).toMatchObject(bad('unauthorized'));
    expect(await ask('redis', server.url)).toMatchObject(bad('unauthorized'));
    expect(await ask('redis', named, { credential: RIGHT })).toMatchObject(bad('unauthorized'));
    await client.config('SET', 'requirepass', '');
    client.disconnect();
  });

  it('is frozen', async () => {
    server.pause();
    const frozen = await ask('redis', server.url, {}, { firstByteMs: 100 });
    server.resume();
    expect(frozen).toMatchObject(bad('first_byte_timeout'));
  });
});

describeWith('nats-server', 'nats-server')('NATS', () => {
  let plain: Awaited<ReturnType<typeof startNats>>;
  let secure: typeof plain;
  beforeAll(async () => {
    plain = await startNats();
    secure = await startNats({ key: TEST_KEY, cert: TEST_CERT });
  });
  afterAll(async () => {
    await plain.stop();
    await secure.stop();
  });
  const at = (server: typeof plain, scheme = 'nats') => `${scheme}://${USER}@localhost:${server.port}`;

  it('answers, with TLS and without', async () => {
    expect(await ask('nats', at(plain), { credential: RIGHT })).toMatchObject({ ...OK, detail: 'PONG' });
    const tls = { credential: RIGHT, options: { tls: 'insecure' } };
    expect(await ask('nats', at(secure), tls)).toMatchObject(OK);
    expect(await ask('nats', at(secure, 'tls'), tls)).toMatchObject(OK);
  });

  it('refuses', async () => {
    expect(await ask('nats', at(plain), { credential: WRONG })).toMatchObject(bad('unauthorized'));
    expect(await ask('nats', at(plain))).toMatchObject(bad('unauthorized'));
    expect(await ask('nats', at(plain, 'tls'), { credential: RIGHT })).toMatchObject(bad('tls'));
    expect(await ask('nats', at(secure), { credential: RIGHT })).toMatchObject(bad('tls'));
  });

  it('is frozen', async () => {
    plain.pause();
    const frozen = await ask('nats', at(plain), { credential: RIGHT }, { firstByteMs: 100 });
    plain.resume();
    expect(frozen).toMatchObject(bad('first_byte_timeout'));
  });
});

const GARBAGE = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197 + 13) % 256));
/** A PostgreSQL message of a gigabyte, a MySQL packet of 16 MB, a Redis bulk of a gigabyte: all begun. */
const GIANT: Record<Kind, Buffer> = {
  postgres: Buffer.from([0x52, 0x3f, 0xff, 0xff, 0xff, 0]),
  mysql: Buffer.from([0xff, 0xff, 0xff, 0, 10]),
  redis: Buffer.from('$1073741824\r\n'),
  nats: Buffer.from('INFO {"x":"'),
};

describe.each(KINDS)('a hostile server for %s', (kind) => {
  const target = (port: number) => `${kind}://u@127.0.0.1:${port}`;

  it.each([
    ['hangs up at once', (socket: Socket) => socket.end(), 'closed'],
    ['cuts the connection', (socket: Socket) => socket.resetAndDestroy(), 'closed'],
  ])('%s', async (_, behave, fault) => {
    const server = await startTcp(behave);
    expect(await ask(kind, target(server.port), { credential: RIGHT })).toMatchObject(bad(fault));
    await until('every connection is closed', () => server.open() === 0);
    await server.close();
  });

  it('speaks in tongues', async () => {
    const server = await startTcp((socket) => socket.write(GARBAGE));
    for (let skip = 0; skip < 24; skip++) {
      GARBAGE.copyWithin(0, 37);
      const result = await ask(kind, target(server.port), { credential: RIGHT }, { totalMs: 300 });
      expect(result.ok).toBe(false);
    }
    await until('every connection is closed', () => server.open() === 0);
    await server.close();
  });

  it('floods, and fills no memory', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const server = await startTcp((socket) => {
      socket.write(GIANT[kind]);
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    await ask(kind, target(server.port));
    const before = process.memoryUsage().rss;
    expect(await ask(kind, target(server.port))).toMatchObject({
      ok: false,
      fault: expect.stringMatching(/too_large|wrong_answer/),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(10_000_000);
    await until('every connection is closed', () => server.open() === 0);
    await server.close();
  });

  it('says nothing, and is left', async () => {
    const server = await startTcp(() => undefined);
    const result = await ask(kind, target(server.port), {}, { firstByteMs: 60 });
    expect(result).toMatchObject(bad('first_byte_timeout'));
    await until('every connection is closed', () => server.open() === 0);
    await server.close();
  });

  it('is not connected to where its address is denied', async () => {
    const make = { postgres: postgresProber, mysql: mysqlProber, redis: redisProber, nats: natsProber }[kind];
    const closed = make(new AddressGuard(CLOSED), credentials) as ReturnType<typeof redisProber>;
    const server = await startTcp(() => undefined);
    expect(await probeOnce(closed, { target: target(server.port) })).toMatchObject(bad('address_denied'));
    expect(server.made()).toBe(0);
    await server.close();
    expect(await ask(kind, target(server.port))).toMatchObject(bad('refused'));
  });
});
