import { Redis } from 'ioredis';
import { type BullOrderQueue } from '../../src/platform/queue/bull-order-queue.js';
import { QueueUnavailable } from '../../src/platform/queue/order-queue.js';
import { FatalProxy } from '../support/fatal-proxy.js';
import { PrivatePostgres } from '../support/postgres.js';
import { RecordingHandler, TestQueues } from '../support/queues.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWithRedisServer } from '../support/redis.js';
import { SilentProxy } from '../support/silent-proxy.js';
import { until } from '../support/until.js';

/** Orders until one is accepted: what a sweep does. */
async function orderEventually(queue: BullOrderQueue, lane: string): Promise<void> {
  await until(`an order of ${lane} is accepted`, () =>
    queue.order([lane]).then(
      () => true,
      () => false,
    ),
  );
}

/** Orders must be refused with QueueUnavailable within 2.5 s. */
async function expectRefusedInTime(queue: BullOrderQueue): Promise<void> {
  const startedMs = performance.now();
  await expect(queue.order(['refused'])).rejects.toThrow(QueueUnavailable);
  await expect(queue.restore(['refused'])).rejects.toThrow(QueueUnavailable);
  expect(performance.now() - startedMs).toBeLessThan(5_000);
}

describeWithRedisServer('orders in a Redis that is lost', () => {
  let server: RedisServer;
  let admin: Redis;
  let queues: TestQueues;
  let queue: BullOrderQueue;
  let handler: RecordingHandler;

  beforeEach(async () => {
    server = await RedisServer.start();
    admin = new Redis(server.url, { maxRetriesPerRequest: null, lazyConnect: true });
    admin.on('error', () => undefined);
    queues = TestQueues.onRedis(server.url, 'reach');
    queue = await queues.open();
    handler = new RecordingHandler();
  });

  afterEach(async () => {
    await queues.closeAll();
    admin.disconnect();
    await server.stop();
  });

  /** Proves that the worker consumes: it handles this order. */
  async function orderIsHandled(lane: string): Promise<void> {
    await queue.order([lane]);
    await until(`${lane} is handled`, () => handler.count(lane) >= 1);
  }

  test('killed: orders are refused in time; after an empty restart the worker consumes by itself', async () => {
    await queue.consume(handler.handle);
    await orderIsHandled('before');
    await server.kill();
    await until('it is noticed', () =>
      queue.order(['x']).then(
        () => false,
        () => true,
      ),
    );
    await expectRefusedInTime(queue);
    await server.restartEmpty();
    await orderEventually(queue, 'after');
    await until('the worker consumes again', () => handler.count('after') >= 1);
    await orderIsHandled('and on');
  });

  test('killed in the middle of a pass: the lane can be ordered again', async () => {
    handler.hold('lane');
    await queue.consume(handler.handle);
    await queue.order(['lane']);
    await until('the pass runs', () => handler.running === 1);
    await server.restartEmpty();
    handler.release('lane');
    await orderEventually(queue, 'lane');
    await until('it runs again', () => handler.count('lane') >= 2);
  });

  test('a queue that starts before its Redis consumes when that comes', async () => {
    await server.kill();
    const opening = queues.open();
    await server.restartEmpty();
    const late = await opening;
    await late.consume(handler.handle);
    await orderEventually(late, 'lane');
    await until('it is handled', () => handler.count('lane') >= 1);
  });

  test('FLUSHALL: idle, with an order waiting, and with one running', async () => {
    await queue.order(['waiting']);
    await admin.flushall();
    await queue.consume(handler.handle);
    await orderIsHandled('first');
    await admin.flushall();
    await orderIsHandled('second');
    handler.hold('running');
    await queue.order(['running']);
    await until('the pass runs', () => handler.running === 1);
    await queue.order(['running']);
    await admin.flushall();
    await queue.order(['running']);
    await until('it runs once more', () => handler.count('running') === 2);
    handler.release('running');
    await orderIsHandled('third');
    await orderIsHandled('waiting');
  });

  test('frozen: orders are refused in time; afterwards everything goes on', async () => {
    await queue.consume(handler.handle);
    await orderIsHandled('before');
    server.pause();
    await expectRefusedInTime(queue);
    server.resume();
    await orderEventually(queue, 'after');
    await until('the worker consumes again', () => handler.count('after') >= 1);
  });

  test('connections that fell silent are replaced: the network went, not the server', async () => {
    const proxy = await SilentProxy.start(Number(new URL(server.url).port));
    const far = TestQueues.onRedis(`redis://127.0.0.1:${proxy.port}`, 'reach');
    const farQueue = await far.open();
    await farQueue.consume(handler.handle);
    await farQueue.order(['before']);
    await until('it is handled', () => handler.count('before') === 1);
    proxy.silence();
    await expectRefusedInTime(farQueue);
    await orderEventually(farQueue, 'after');
    await until('the worker consumes again', () => handler.count('after') >= 1, 20_000);
    await far.closeAll();
    await proxy.stop();
  }, 60_000);

  describe('one part of an order deleted by hand', () => {
    const prefix = '{reach}:reach-orders';
    const keysLike = async (pattern: string) => (await admin.keys(`${prefix}:${pattern}`)).sort();

    test('the deduplication key', async () => {
      await queue.order(['lane']);
      const [key] = await keysLike('de:*');
      expect(await admin.del(key!)).toBe(1);
      await queue.order(['lane']);
      await queue.consume(handler.handle);
      await until('it is handled', () => handler.count('lane') >= 1);
      await orderIsHandled('other');
    });

    test('the job itself', async () => {
      await queue.order(['lane']);
      const [key] = await keysLike('order-*');
      expect(await admin.del(key!)).toBe(1);
      await queue.consume(handler.handle);
      await queue.order(['lane']);
      await until('it is handled', () => handler.count('lane') >= 1);
      await orderIsHandled('other');
    });

    test('its place in the list: orders are swallowed until the lane is restored', async () => {
      await queue.order(['lane']);
      expect(await admin.del(`${prefix}:wait`)).toBe(1);
      await queue.consume(handler.handle);
      await queue.order(['lane']);
      await orderIsHandled('other');
      expect(handler.count('lane')).toBe(0);
      await queue.restore(['lane']);
      await until('it is handled', () => handler.count('lane') === 1);
      expect(await keysLike('order-*')).toEqual([]);
    });

    test('the marker that wakes workers', async () => {
      await queue.order(['lane']);
      expect(await admin.del(`${prefix}:marker`)).toBe(1);
      await queue.consume(handler.handle);
      await until('it is handled', () => handler.count('lane') === 1);
    });

    test('the lock of a running one', async () => {
      const [checked] = [await queues.open({ worker: { lockDuration: 300, stalledInterval: 100 } })];
      handler.hold('lane');
      await checked.consume(handler.handle);
      await checked.order(['lane']);
      await until('it runs', () => handler.running === 1);
      const [lock] = await keysLike('*:lock');
      expect(await admin.del(lock!)).toBe(1);
      await until('it is given out again', () => handler.count('lane') >= 2);
      handler.release('lane');
      await orderEventually(checked, 'other');
      await until('it goes on', () => handler.count('other') === 1);
    });
  });
});

describe('orders in a Postgres that is restarted', () => {
  let postgres: PrivatePostgres;
  beforeAll(async () => {
    postgres = await PrivatePostgres.start();
  }, 60_000);
  afterAll(() => postgres.stop());

  test('orders are refused in time; afterwards the worker consumes by itself', async () => {
    const queues = TestQueues.onPostgres(postgres.url);
    const queue = await queues.open();
    const handler = new RecordingHandler();
    await queue.consume(handler.handle);
    await queue.order(['before']);
    await until('it is handled', () => handler.count('before') === 1);
    await postgres.shutDown();
    await expectRefusedInTime(queue);
    await postgres.startAgain();
    await orderEventually(queue, 'after');
    await until('the worker consumes again', () => handler.count('after') >= 1);
    await queues.closeAll();
  });

  test('a worker whose first connection is cut leaves the process alive, and consumes when it can', async () => {
    const url = new URL(postgres.url);
    const proxy = await SilentProxy.start(Number(url.port));
    url.port = String(proxy.port);
    const queues = TestQueues.onPostgres(url.href);
    const queue = await queues.open();
    const handler = new RecordingHandler();
    proxy.cutsNew = true;
    await queue.consume(handler.handle);
    await until('it is told', () =>
      queues.reports.some((r) => r.startsWith('the order worker cannot connect')),
    );
    proxy.cutsNew = false;
    await orderEventually(queue, 'lane');
    await until('it is handled', () => handler.count('lane') === 1);
    await queues.closeAll();
    await proxy.stop();
  });

  test('a server that ends as a connection is made, or closed, leaves the process alive', async () => {
    const url = new URL(postgres.url);
    const proxy = await FatalProxy.start(Number(url.port));
    url.port = String(proxy.port);
    const queues = TestQueues.onPostgres(url.href);
    const queue = await queues.open();
    const handler = new RecordingHandler();
    await queue.consume(handler.handle);
    await queue.order(['before']);
    await until('it is handled', () => handler.count('before') === 1);

    proxy.whenReady = true;
    proxy.cut();
    await until('connections are made, and end at once', () => proxy.ended >= 5);
    proxy.whenReady = false;
    await orderEventually(queue, 'after');
    await until('the worker consumes again', () => handler.count('after') >= 1);

    const { ended } = proxy;
    proxy.whenClosed = true;
    await queues.closeAll();
    await until('it ended as they were closed', () => proxy.ended > ended);
    await proxy.stop();
  });
});
