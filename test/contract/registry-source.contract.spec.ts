import { ConsulSource } from '../../src/registry/sources/consul-source.js';
import { NacosSource } from '../../src/registry/sources/nacos-source.js';
import type { RegistrySource, SourceInstance } from '../../src/registry/sources/registry-source.js';
import { Credentials } from '../../src/platform/outbound/credentials.js';
import { ConsulServer, NacosServer, type Fault, type SourceServer } from '../support/source-server.js';
import { until } from '../support/until.js';

const env = { REACH_CREDENTIAL_TOKEN: 'sesame', REACH_CREDENTIAL_WRONG: 'wrong' };
const credentials = new Credentials('', env);
const consulSettings = {
  consulTag: 'agent-reach',
  consulServices: [],
  consulCredential: '',
  sourceIntervalMs: 50,
};
const nacosSettings = {
  nacosNamespace: '',
  nacosGroup: 'agents',
  nacosServices: [],
  nacosUsername: 'nacos',
  nacosCredential: '',
  sourceIntervalMs: 50,
};
const consul = (server: SourceServer, more: object = {}) =>
  new ConsulSource({ ...consulSettings, consulUrl: server.url, ...more }, credentials);
const nacos =
  (nacosApi: 'v1' | 'v2' | 'v3') =>
  (server: SourceServer, more: object = {}) =>
    new NacosSource({ ...nacosSettings, nacosApi, nacosUrl: `${server.url}/nacos/`, ...more }, credentials);

/** What a source says, as it is followed. */
class Following {
  last: { list: readonly SourceInstance[]; isComplete: boolean } | undefined;
  failures: Error[] = [];
  private readonly end = new AbortController();
  private readonly done: Promise<void>;

  constructor(source: RegistrySource) {
    const listener = {
      instances: (list: readonly SourceInstance[], isComplete: boolean) => (this.last = { list, isComplete }),
      failed: (error: Error) => this.failures.push(error),
    };
    this.done = source.watch(listener, this.end.signal);
  }

  ids(): string[] {
    return (this.last?.list ?? [])
      .map((i) => `${i.service}:${i.port}${i.healthy ? '' : ' unhealthy'}`)
      .sort();
  }

  async sees(...ids: string[]): Promise<void> {
    await until(
      `it lists ${ids.join(', ')}, not ${this.ids().join(', ')}`,
      () => {
        return this.last?.isComplete === true && this.ids().join() === ids.join();
      },
      10_000,
    );
  }

  async stop(): Promise<void> {
    this.end.abort();
    await this.done;
  }
}

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function started<S extends SourceServer>(server: S): Promise<S> {
  await server.start();
  open.push({ stop: () => server.kill() });
  return server;
}

function following(source: RegistrySource): Following {
  const one = new Following(source);
  open.push(one);
  return one;
}

describe.each([
  ['consul', () => new ConsulServer(), consul, { consulServices: ['named', 'absent'] }],
  ['nacos v1', () => new NacosServer(), nacos('v1'), { nacosServices: ['named', 'absent'] }],
  ['nacos v2', () => new NacosServer(), nacos('v2'), { nacosServices: ['named', 'absent'] }],
  ['nacos v3', () => new NacosServer(), nacos('v3'), { nacosServices: ['named', 'absent'] }],
])('the source %s', (_name, make, sourceOf, named) => {
  let server: SourceServer;
  beforeEach(async () => {
    server = await started(make());
  });

  it('tells what is there, and each change', async () => {
    const follower = following(sourceOf(server));
    await follower.sees();
    server.put('summarizer', 's1', { port: 1001, meta: { reach_name: 'sum', other: 'x' } });
    await follower.sees('summarizer:1001');
    expect(follower.last?.list[0]).toMatchObject({
      service: 'summarizer',
      host: '127.0.0.1',
      port: 1001,
      healthy: true,
      meta: { reach_name: 'sum', other: 'x' },
    });
    server.put('summarizer', 's2', { port: 1002, host: '::1' });
    server.put('trans lator/ü', 't1', { port: 1003 });
    await follower.sees('summarizer:1001', 'summarizer:1002', 'trans lator/ü:1003');
    server.put('summarizer', 's1', { port: 1001, healthy: false });
    await follower.sees('summarizer:1001 unhealthy', 'summarizer:1002', 'trans lator/ü:1003');
    server.remove('trans lator/ü', 't1');
    server.remove('summarizer', 's1');
    await follower.sees('summarizer:1002');
    expect(follower.failures).toEqual([]);
  });

  it('leaves out what is not marked as an agent, unless its service is named', async () => {
    server.put('named', 'n1', { port: 1001, marked: false });
    server.put('other', 'o1', { port: 1002, marked: false });
    server.put('mixed', 'm1', { port: 1003 });
    server.put('mixed', 'm2', { port: 1004, marked: false });
    await following(sourceOf(server)).sees('mixed:1003');
    await following(sourceOf(server, named)).sees('named:1001');
  });

  it('tells of one entry that cannot be read, and of all others', async () => {
    server.junk = [null, 7, { Service: { ID: 1 }, ip: {} }];
    server.put('summarizer', 's1', { port: 1001 });
    const follower = following(sourceOf(server));
    await until('read', () => follower.last?.list.length === 4);
    expect(follower.last?.list.filter((i) => i.unreadable !== undefined)).toHaveLength(3);
    expect(follower.ids()).toContain('summarizer:1001');
  });

  it.each<Fault>(['status 500', 'status 429', 'garbage', 'other json', 'flood'])(
    'keeps what it knew through answers that cannot be used (%s), and reads on afterwards',
    async (fault) => {
      server.put('summarizer', 's1', { port: 1001 });
      const follower = following(sourceOf(server));
      await follower.sees('summarizer:1001');
      server.fault = fault;
      // What hangs is let go, and finds the fault.
      server.put('summarizer', 's2', { port: 1002 });
      await until('told', () => follower.failures.length > 0);
      expect(follower.ids()).toContain('summarizer:1001');
      server.fault = 'none';
      await follower.sees('summarizer:1001', 'summarizer:1002');
    },
  );

  it('keeps what it knew while the server is away, and while it hangs', async () => {
    server.put('summarizer', 's1', { port: 1001 });
    const follower = following(sourceOf(server));
    await follower.sees('summarizer:1001');
    await server.kill();
    await until('told', () => follower.failures.length > 0);
    expect(follower.ids()).toEqual(['summarizer:1001']);
    expect(follower.failures[0]?.message).toMatch(/did not answer \/v\d\/.*/);
    server.remove('summarizer', 's1');
    await server.start();
    await follower.sees();
    server.fault = 'silent';
    server.put('summarizer', 's3', { port: 1003 });
    await follower.stop();
  });

  it('ends at once, and leaves no connection', async () => {
    const follower = following(sourceOf(server));
    await follower.sees();
    await follower.stop();
    await until('no connection', () => server.connections === 0);
  });
});

describe('consul', () => {
  it('starts anew when the index goes backwards, and asks in no rush meanwhile', async () => {
    const server = await started(new ConsulServer());
    server.put('summarizer', 's1', { port: 1001 });
    const follower = following(consul(server));
    await follower.sees('summarizer:1001');
    const askedWith = () => server.asked.map((url) => Number(url.searchParams.get('index')));
    await until('both hang', () => askedWith().filter((index) => index > 0).length === 2);
    const before = server.asked.length;
    expect(before).toBe(4);
    server.resetIndex();
    await until(
      'asked anew',
      () =>
        askedWith()
          .slice(before)
          .filter((index) => index === 0).length === 2,
    );
    server.put('summarizer', 's2', { port: 1002 });
    await follower.sees('summarizer:1001', 'summarizer:1002');
    expect(server.asked.length).toBeLessThan(before + 12);
  });

  it('falls back to a pace when answers come in a rush', async () => {
    const server = await started(new ConsulServer());
    server.put('summarizer', 's1', { port: 1001 });
    const follower = following(consul(server, { sourceIntervalMs: 600_000 }));
    await follower.sees('summarizer:1001');
    for (let i = 0; i < 20; i++) {
      server.put('summarizer', 's2', { port: 2000 + i });
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Two at once for each of the two queries, and then one each ten minutes.
    await until('asked', () => server.asked.length === 4);
    expect(server.asked).toHaveLength(4);
  });

  it('shows its token, by reference, and says what is wrong with it', async () => {
    const server = await started(new ConsulServer());
    server.token = 'sesame';
    await following(consul(server, { consulCredential: 'env:REACH_CREDENTIAL_TOKEN' })).sees();
    const denied = following(consul(server, { consulCredential: 'env:REACH_CREDENTIAL_WRONG' }));
    const without = following(consul(server, { consulCredential: 'env:REACH_CREDENTIAL_NONE' }));
    await until('told', () => denied.failures.length > 0 && without.failures.length > 0);
    expect(denied.failures[0]?.message).toBe(
      'consul answered /v1/catalog/services with 403: "Permission denied"',
    );
    expect(without.failures[0]?.message).toBe('the dispatcher has no credential env:REACH_CREDENTIAL_NONE');
  });
});

describe('nacos', () => {
  const withLogin = { nacosCredential: 'env:REACH_CREDENTIAL_TOKEN' };

  it.each(['v1', 'v2', 'v3'] as const)('%s: logs in, and again when its token is refused', async (api) => {
    const server = await started(new NacosServer());
    server.password = 'sesame';
    server.hasOldLoginOnly = api !== 'v3';
    server.put('summarizer', 's1', { port: 1001 });
    const follower = following(nacos(api)(server, withLogin));
    await follower.sees('summarizer:1001');
    expect(server.logins).toBe(1);
    server.token = 'restarted';
    server.put('summarizer', 's2', { port: 1002 });
    await follower.sees('summarizer:1001', 'summarizer:1002');
    expect(server.logins).toBe(2);
    expect(server.asked.some((url) => url.href.includes('token-'))).toBe(false);
  });

  it('renews its token before it ends', async () => {
    const server = await started(new NacosServer());
    server.password = 'sesame';
    server.tokenTtlS = 1;
    const follower = following(nacos('v3')(server, withLogin));
    await until('logged in again', () => server.logins >= 3);
    expect(follower.failures).toEqual([]);
  });

  it('says that its password is wrong', async () => {
    const server = await started(new NacosServer());
    server.password = 'other';
    const follower = following(nacos('v3')(server, withLogin));
    await until('told', () => follower.failures.length > 0);
    expect(follower.failures[0]?.message).toContain('/v3/auth/user/login with 403');
    expect(follower.failures[0]?.message).not.toContain('sesame');
  });
});
