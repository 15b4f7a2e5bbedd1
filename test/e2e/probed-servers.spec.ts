import pg from 'pg';
import { Centre } from '../support/centre.js';
import { describeWith, PASSWORD, startMariadb, startNats, USER } from '../support/packaged-servers.js';
import { startPrivatePostgres } from '../support/postgres.js';
import { describeWithRedisServer } from '../support/redis.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

/* What agents need, as real servers: each is killed and brought back, and the whole prober has to say so. */

const env = {
  REACH_DEPENDENCY_INTERVAL_MS: '500',
  REACH_OUTBOUND_LOOPBACK: 'allow',
  REACH_CREDENTIAL_SERVER: PASSWORD,
};

/** A server that can go and come back at its address. */
interface Needed {
  target: string;
  /** Whether it asks for the credential. */
  guarded: boolean;
  die: () => Promise<unknown>;
  revive: () => Promise<unknown>;
  stop: () => Promise<unknown>;
}

async function postgres(): Promise<Needed> {
  const server = await startPrivatePostgres();
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`CREATE ROLE ${USER} LOGIN PASSWORD '${PASSWORD}'`);
  await admin.end();
  return {
    target: `postgres://${USER}@${new URL(server.url).host}/reach`,
    guarded: true,
    die: () => server.shutDown(),
    revive: () => server.startAgain(),
    stop: () => server.stop(),
  };
}

async function redis(): Promise<Needed> {
  const server = await RedisServer.start();
  return {
    target: server.url,
    guarded: false,
    die: () => server.kill(),
    revive: () => server.restartEmpty(),
    stop: () => server.stop(),
  };
}

async function tcp(): Promise<Needed> {
  const server = await redis();
  return { ...server, target: new URL(server.target).host };
}

async function packaged(
  start: () => ReturnType<typeof startNats>,
  targetAt: (port: number) => string,
): Promise<Needed> {
  const server = await start();
  return {
    target: targetAt(server.port),
    guarded: true,
    die: () => server.kill(),
    revive: () => server.startAgain(),
    stop: () => server.stop(),
  };
}
const mysql = () => packaged(startMariadb, (port) => `mysql://${USER}@127.0.0.1:${port}/app`);
const nats = () => packaged(startNats, (port) => `nats://${USER}@127.0.0.1:${port}`);

describe('servers that agents need', () => {
  const centre = Centre.ofSuite('embedded', { env });

  describe.each([
    ['postgres', describe, postgres],
    ['redis', describeWithRedisServer, redis],
    ['tcp', describeWithRedisServer, tcp],
    ['mysql', describeWith('mariadbd', 'mariadb-server-core'), mysql],
    ['nats', describeWith('nats-server', 'nats-server'), nats],
  ] as const)('%s', (type, describeIt, start) => {
    describeIt('as a server', () => {
      let server: Needed;
      beforeAll(async () => {
        server = await start();
      });
      afterAll(() => server?.stop());

      test('is good while it answers, missed when it is killed, and found again when it is back', async () => {
        const api = centre.api();
        const credential = server.guarded ? { credential: 'env:REACH_CREDENTIAL_SERVER' } : {};
        const needs = { name: 'server', type, target: server.target, critical: true, ...credential };
        const agent = await api.agent(type, { lease_ttl_ms: 600_000, dependencies: [needs] });
        const fact = async () => (await api.agentView(type)).facts.dependencies[0];

        await until('it was probed', async () => (await fact()).standing !== 'unknown');
        expect(await fact()).toMatchObject({ standing: 'good', failures: 0 });
        await server.die();
        await api.agentIs(type, 'degraded');
        const { history, state_reason: reason } = await api.agentView(type);
        expect(reason).toBe('critical dependency server (refused) is down');
        expect(history[0].evidence).toMatchObject({
          dependency: 'server',
          probe: { kind: type, target: `${type} ${server.target}`, fault: 'refused', failures: 3 },
        });
        const id = await api.submit({ capability: 'work' });
        expect(await agent.offers(1, 300)).toEqual([]);
        await server.revive();
        await api.agentIs(type, 'online');
        expect((await agent.work()).task_id).toBe(id);
      });
    });
  });
});
