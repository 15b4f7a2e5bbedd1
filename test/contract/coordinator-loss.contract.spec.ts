import { Redis } from 'ioredis';
import { CoordinatorUnavailable, type Coordinator } from '../../src/platform/coordination/coordinator.js';
import { RedisCoordinator } from '../../src/platform/coordination/redis.js';
import { parseRedisUrl } from '../../src/platform/coordination/redis-url.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWithRedisServer } from '../support/redis.js';
import { SilentProxy } from '../support/silent-proxy.js';
import { until } from '../support/until.js';

/** Every call there is, so that "no call hangs" means no call. */
const ALL_CALLS: [string, (c: Coordinator) => Promise<unknown>][] = [
  ['setIfAbsent', (c) => c.setIfAbsent('k', 'v', 1000)],
  ['get', (c) => c.get('k')],
  ['remove', (c) => c.remove('k')],
  ['remove if', (c) => c.remove('k', 'v')],
  ['counterReserve', (c) => c.counterReserve('k', 1, 5)],
  ['counterAdd', (c) => c.counterAdd('k', 1)],
  ['counterSeed', (c) => c.counterSeed('k', 1)],
  ['counterRead', (c) => c.counterRead('k')],
  ['counterCorrect', (c) => c.counterCorrect('k', 1, 1)],
  ['slotsReserve', (c) => c.slotsReserve('k', ['d'], 5)],
  ['slotsRelease', (c) => c.slotsRelease('k', ['d'])],
  ['slotsSeed', (c) => c.slotsSeed('k', ['d'])],
  ['slotsList', (c) => c.slotsList('k')],
  ['inboxPush', (c) => c.inboxPush('k', ['d'], 5)],
  ['inboxPop', (c) => c.inboxPop('k', 5)],
  ['inboxRemove', (c) => c.inboxRemove('k', ['d'])],
  ['publish', (c) => c.publish('k', 'm')],
];

describeWithRedisServer('a Redis that is lost', () => {
  let server: RedisServer;
  let c: RedisCoordinator;
  let admin: Redis;
  let losses: number;

  beforeEach(async () => {
    server = await RedisServer.start();
    admin = new Redis(server.url, { maxRetriesPerRequest: null, lazyConnect: true });
    admin.on('error', () => undefined);
    c = new RedisCoordinator({ target: parseRedisUrl(server.url), checkIntervalMs: 100 });
    losses = 0;
    c.onLost(() => losses++);
    expect(await c.waitUntilAvailable(5_000)).toBe(true);
  });

  afterEach(async () => {
    await c.close();
    admin.disconnect();
    await server.stop();
  });

  /** Makes every call at once; each must reject with CoordinatorUnavailable within 2.5 s. */
  async function expectAllRejectInTime(): Promise<void> {
    const startedMs = performance.now();
    await Promise.all(
      ALL_CALLS.map(async ([name, call]) => {
        const outcome = await call(c).catch((error: unknown) => error);
        expect([name, outcome]).toEqual([name, expect.any(CoordinatorUnavailable)]);
        expect(performance.now() - startedMs).toBeLessThan(2_500);
      }),
    );
  }

  /** How many scripts the server has run. */
  async function scriptCalls(): Promise<number> {
    const stats = await admin.info('commandstats');
    const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
    return calls.reduce((sum, match) => sum + Number(match[1]), 0);
  }

  test('first contact is no loss', async () => {
    const heard: string[] = [];
    await c.subscribe('news', (message) => heard.push(message));
    await c.publish('news', 'x');
    await until('the message is heard', () => heard.length === 1);
    const before = await scriptCalls();
    await until('the epoch was checked twice', async () => (await scriptCalls()) >= before + 2);
    expect(losses).toBe(0);
  });

  test('FLUSHALL: counters and slots are unknown, the loss is announced, and it goes on', async () => {
    await c.counterSeed('lane', 3);
    await c.slotsSeed('agent', ['d1']);
    await c.inboxPush('agent', ['d1'], 5);
    await admin.flushall();
    expect(await c.counterReserve('lane', 1, 5)).toBe('unknown');
    expect(await c.slotsReserve('agent', ['d2'], 5)).toBe('unknown');
    expect(await c.inboxPop('agent', 5)).toEqual([]);
    await until('the loss is announced', () => losses === 1);
    expect(await c.counterSeed('lane', 2)).toBe(true);
    expect(await c.counterReserve('lane', 1, 5)).toEqual({ granted: 1, value: 3 });
  });

  test('every replica hears of a loss, also those that find a new epoch instead of none', async () => {
    const other = new RedisCoordinator({ target: parseRedisUrl(server.url), checkIntervalMs: 100 });
    let otherLosses = 0;
    other.onLost(() => otherLosses++);
    await other.waitUntilAvailable(5_000);
    await admin.flushall();
    await until('both heard', () => losses === 1 && otherLosses === 1);
    await other.close();
  });

  test('a version read before a loss corrects nothing after it', async () => {
    await c.counterSeed('lane', 3);
    const reading = await c.counterRead('lane');
    if (reading === 'unknown') throw new Error('unknown');
    await admin.flushall();
    await c.counterSeed('lane', 3);
    expect(await c.counterCorrect('lane', 9, reading.version)).toBe(false);
  });

  test.each(['counter', 'slots'])('deleting just the %s key by hand makes it unknown', async (kind) => {
    await c.counterSeed('it', 3);
    await c.slotsSeed('it', ['d1']);
    expect(await admin.del(`reach:{it}:${kind}`)).toBe(1);
    const seen = { counter: await c.counterRead('it'), slots: await c.slotsList('it') };
    expect(seen[kind === 'counter' ? 'counter' : 'slots']).toBe('unknown');
    expect(seen[kind === 'counter' ? 'slots' : 'counter']).not.toBe('unknown');
  });

  test('nothing is left for ever: each write gives its key seven days', async () => {
    const writes: [key: string, write: () => Promise<unknown>][] = [
      ['{k}:counter', () => c.counterSeed('k', 1)],
      ['{k}:counter', () => c.counterAdd('k', 1)],
      ['{k}:counter', () => c.counterReserve('k', 1, 9)],
      [
        '{k}:counter',
        () => c.counterRead('k').then((r) => r !== 'unknown' && c.counterCorrect('k', 1, r.version)),
      ],
      ['{k}:slots', () => c.slotsSeed('k', ['a', 'b'])],
      ['{k}:slots', () => c.slotsReserve('k', ['c'], 5)],
      ['{k}:slots', () => c.slotsRelease('k', ['c'])],
      ['{k}:inbox', () => c.inboxPush('k', ['a', 'b'], 5)],
    ];
    for (const [key, write] of writes) {
      await admin.pexpire(`reach:${key}`, 60_000);
      await write();
      const daysLeft = (await admin.pttl(`reach:${key}`)) / 86_400_000;
      expect([String(write), Math.round(daysLeft)]).toEqual([String(write), 7]);
    }
    await c.setIfAbsent('k', 'v', 5_000);
    await c.inboxPop('k', 1);
    await c.inboxRemove('k', ['b']);
    for (const key of await admin.keys('*')) {
      expect([key, key.endsWith(':epoch') || (await admin.pttl(key)) > 0]).toEqual([key, true]);
    }
  });

  test('a server that is killed: calls reject in time, and work again after an empty restart', async () => {
    const heard: string[] = [];
    await c.subscribe('news', (message) => heard.push(message));
    await c.slotsSeed('agent', ['d1']);
    await server.kill();
    await expectAllRejectInTime();
    expect(c.available()).toBe(false);
    await server.restartEmpty();
    await until('it is available again', () => c.available());
    expect(losses).toBeGreaterThanOrEqual(1);
    expect(await c.slotsReserve('agent', ['d2'], 5)).toBe('unknown');
    const before = losses;
    await until('the channels are heard again', async () => {
      await c.publish('news', 'back');
      return heard.length > 0;
    });
    expect(losses).toBeGreaterThanOrEqual(before);
  });

  test('the loss is announced before anything can be read from a Redis that came back', async () => {
    await server.kill();
    await until('it is noticed', () => !c.available());
    const lossesWhenAvailable = new Promise<number>((resolve) => {
      const poll = setInterval(() => {
        if (!c.available()) return;
        clearInterval(poll);
        resolve(losses);
      }, 1);
    });
    await server.restartEmpty();
    expect(await lossesWhenAvailable).toBeGreaterThanOrEqual(1);
  });

  test('a server that does not answer: calls reject in time, later ones at once, then it recovers', async () => {
    const heard: string[] = [];
    await c.subscribe('news', (message) => heard.push(message));
    server.pause();
    await expectAllRejectInTime();
    await until('it is noticed', () => !c.available(), 3_000);
    const startedMs = performance.now();
    await expectAllRejectInTime();
    expect(performance.now() - startedMs).toBeLessThan(200);
    server.resume();
    await until('it is available again', () => c.available());
    await until('the channels are heard again', async () => {
      await c.publish('news', 'back').catch(() => undefined);
      return heard.length > 0;
    });
    expect(losses).toBeGreaterThanOrEqual(1);
  });

  test('connections that fell silent are replaced: the network went, not the server', async () => {
    const proxy = await SilentProxy.start(Number(new URL(server.url).port));
    const target = parseRedisUrl(`redis://127.0.0.1:${proxy.port}`);
    const far = new RedisCoordinator({ target, checkIntervalMs: 100 });
    expect(await far.waitUntilAvailable(5_000)).toBe(true);
    const heard: string[] = [];
    await far.subscribe('news', (message) => heard.push(message));
    let farLosses = 0;
    far.onLost(() => farLosses++);
    proxy.silence();
    await until('it is noticed', () => !far.available(), 3_000);
    await until('it is available again', () => far.available(), 10_000);
    await until('the channels are heard again', async () => {
      await far.publish('news', 'back').catch(() => undefined);
      return heard.length > 0;
    });
    expect(farLosses).toBeGreaterThanOrEqual(1);
    await far.close();
    await proxy.stop();
  });

  test('the loss of the subscriber connection alone is announced: messages may have been missed', async () => {
    const heard: string[] = [];
    await c.subscribe('news', (message) => heard.push(message));
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until('it is announced', () => losses >= 1);
    await c.publish('news', 'x');
    await until('messages arrive again', () => heard.length === 1);
  });

  test('a Redis that comes later: subscribing does not fail, and the gap is announced', async () => {
    await server.kill();
    const late = new RedisCoordinator({ target: parseRedisUrl(server.url), checkIntervalMs: 100 });
    let lateLosses = 0;
    const heard: string[] = [];
    late.onLost(() => lateLosses++);
    expect(await late.waitUntilAvailable(50)).toBe(false);
    await late.subscribe('news', (message) => heard.push(message));
    await server.restartEmpty();
    await until('the gap is announced', () => lateLosses === 1);
    await until('it is available', () => late.available());
    await late.publish('news', 'x');
    await until('the message is heard', () => heard.length === 1);
    await late.close();
  });

  test('a script that the server forgot is loaded again', async () => {
    await c.counterSeed('lane', 0);
    await admin.script('FLUSH');
    expect(await c.counterReserve('lane', 1, 5)).toEqual({ granted: 1, value: 1 });
  });
});

describeWithRedisServer('a cluster that is lost', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await RedisServer.start({ cluster: true });
    admin = new Redis(server.url.replace('redis-cluster:', 'redis:'));
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  test('each sixteenth of the slots has an epoch, and losing any one of them is announced', async () => {
    const c = new RedisCoordinator({ target: parseRedisUrl(server.url), checkIntervalMs: 50 });
    let losses = 0;
    c.onLost(() => losses++);
    expect(await c.waitUntilAvailable(5_000)).toBe(true);
    const epochs = await admin.keys('reach:*:epoch');
    const slots = await Promise.all(epochs.map((key) => admin.cluster('KEYSLOT', key)));
    const sixteenths = slots.map((slot) => Math.floor(slot / 1_024)).sort((a, b) => a - b);
    expect(sixteenths).toEqual(Array.from({ length: 16 }, (_, i) => i));
    await admin.del(epochs[7]!);
    await until('the loss is announced', () => losses === 1);
    await c.close();
  });
});
