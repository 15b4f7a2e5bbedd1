import { QueueUnavailable } from '../../src/platform/queue/order-queue.js';
import { createTestDatabase } from '../support/postgres.js';
import { OrderWorkerProcess, RecordingHandler, TestQueues } from '../support/queues.js';
import { RedisServer } from '../support/redis-server.js';
import { anyRedis, describeWithRedis, describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

/** Where orders are kept; `where` says it to another process. */
type Place = { queues: TestQueues; where: string[]; stop: () => Promise<void> };

/** What an order queue promises, wherever its orders are kept. */
function orderQueueContract(make: () => Promise<Place>): void {
  let queues: TestQueues;
  let where: string[];
  let stop: () => Promise<void>;
  let laneCount = 0;
  const newLane = () => `lane ${++laneCount}: {"capabilities":["a:b"]}`;

  beforeAll(async () => {
    ({ queues, where, stop } = await make());
  }, 60_000);
  afterEach(() => queues.closeAll());
  afterAll(() => stop());

  /** Orders a lane of its own, and returns once it was handled: earlier orders have been handed out by then. */
  async function settle(queue: { order: (lanes: string[]) => Promise<void> }, handler: RecordingHandler) {
    const lane = newLane();
    await queue.order([lane]);
    await until('the queue settles', () => handler.count(lane) === 1 && handler.running === 0);
  }

  test('an order reaches the handler, before and after the consumer starts', async () => {
    const queue = await queues.open();
    const handler = new RecordingHandler();
    const [early, late] = [newLane(), newLane()];
    await queue.order([early]);
    await queue.order([]);
    await queue.consume(handler.handle);
    await queue.order([late]);
    await until('both are handled', () => handler.lanes.length === 2);
    expect(handler.lanes).toEqual([early, late]);
  });

  test('while an order waits, more of the lane change nothing', async () => {
    const queue = await queues.open();
    const handler = new RecordingHandler();
    const [lane, other] = [newLane(), newLane()];
    for (let i = 0; i < 20; i++) await queue.order([lane, other, lane]);
    await queue.consume(handler.handle);
    await settle(queue, handler);
    expect(handler.count(lane)).toBe(1);
    expect(handler.count(other)).toBe(1);
  });

  test.each([1, 100])('%i orders added while the lane is handled run it exactly once more', async (count) => {
    const queue = await queues.open();
    const handler = new RecordingHandler();
    const lane = newLane();
    handler.hold(lane);
    await queue.consume(handler.handle);
    await queue.order([lane]);
    await until('the first pass runs', () => handler.running === 1);
    for (let i = 0; i < count; i++) await queue.order([lane]);
    await settleOthers(queue, handler);
    expect(handler.count(lane)).toBe(1);
    handler.release(lane);
    await until('it runs again', () => handler.count(lane) === 2);
    await settle(queue, handler);
    expect(handler.count(lane)).toBe(2);
  });

  /** Like `settle`, while another pass is still running. */
  async function settleOthers(
    queue: { order: (lanes: string[]) => Promise<void> },
    handler: RecordingHandler,
  ) {
    const lane = newLane();
    await queue.order([lane]);
    await until('another lane is handled', () => handler.count(lane) === 1);
  }

  test('an order after the pass is over runs, again and again', async () => {
    const queue = await queues.open();
    const handler = new RecordingHandler();
    const lane = newLane();
    await queue.consume(handler.handle);
    for (let pass = 1; pass <= 5; pass++) {
      await queue.order([lane]);
      await until('it runs', () => handler.count(lane) === pass);
    }
  });

  test('no wake-up is lost: after every order a pass begins, however they race', async () => {
    const queue = await queues.open();
    const second = await queues.open();
    const lanes = [newLane(), newLane(), newLane()];
    const lastBegun = new Map<string, number>();
    let tick = 0;
    const handler = async (lane: string) => {
      lastBegun.set(lane, ++tick);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await queue.consume(handler);
    await second.consume(handler);
    for (let i = 0; i < 200; i++) {
      const lane = lanes[i % 3]!;
      const orderedAt = ++tick;
      await (i % 2 ? queue : second).order([lane]);
      // Every 7th order is awaited; the others race with passes that are ending.
      if (i % 7 === 0) await until('a pass begins after it', () => (lastBegun.get(lane) ?? 0) > orderedAt);
    }
    const ends = new Map(lanes.map((lane) => [lane, ++tick]));
    await Promise.all(lanes.map((lane, i) => (i % 2 ? queue : second).order([lane])));
    for (const lane of lanes) {
      await until('the last pass begins', () => (lastBegun.get(lane) ?? 0) > ends.get(lane)!);
    }
  });

  test('one lane is never handled twice at once, different lanes are', async () => {
    const [a, b] = [await queues.open(), await queues.open()];
    const busy = new Set<string>();
    let overlaps = 0;
    const finished: string[] = [];
    let waiting = 0;
    let open = (): void => undefined;
    const both = new Promise<void>((resolve) => (open = resolve));
    const lanes = [newLane(), newLane()];
    const handler = async (lane: string) => {
      if (busy.has(lane)) overlaps++;
      busy.add(lane);
      // Both lanes must be here at the same time for either to go on.
      if (++waiting >= 2) open();
      await both;
      busy.delete(lane);
      finished.push(lane);
    };
    await a.consume(handler);
    await b.consume(handler);
    await Promise.all([a.order(lanes), b.order(lanes)]);
    await until('both are done', () => lanes.every((lane) => finished.includes(lane)));
    expect(overlaps).toBe(0);
  });

  test('odd lanes stay apart', async () => {
    const queue = await queues.open();
    const handler = new RecordingHandler();
    const lanes = ['1', '01', 'a:b', 'a:b:c', '{x}', '0:1', 'é', 'e\u0301', '👩‍🚀', 'k'.repeat(2000)];
    await queue.order(lanes);
    await queue.consume(handler.handle);
    // Orders that another test left in the same queue may come by as well.
    const handled = () => handler.lanes.filter((lane) => lanes.includes(lane));
    await until('all are handled', () => handled().length >= lanes.length);
    expect(handled().sort()).toEqual([...lanes].sort());
  });

  test('a handler that throws is reported, and the lane can be ordered again', async () => {
    const queue = await queues.open();
    const lane = newLane();
    let calls = 0;
    await queue.consume(async () => {
      if (++calls === 1) throw new Error('no such agent');
    });
    await queue.order([lane]);
    await until('it is reported', () => queues.reports.some((report) => report.includes('no such agent')));
    await queue.order([lane]);
    await until('it runs again', () => calls === 2);
  });

  test('pause waits for running handlers and takes nothing new; the order goes to another replica', async () => {
    const [leaving, staying] = [await queues.open(), await queues.open()];
    const handler = new RecordingHandler();
    const lane = newLane();
    handler.hold(lane);
    await leaving.consume(handler.handle);
    await leaving.order([lane]);
    await until('it runs', () => handler.running === 1);
    let paused = false;
    const pausing = leaving.pause().then(() => (paused = true));
    const next = newLane();
    await staying.order([next]);
    const other = new RecordingHandler();
    await staying.consume(other.handle);
    await until('the other takes it', () => other.count(next) === 1);
    expect(paused).toBe(false);
    handler.release(lane);
    await pausing;
    expect(handler.lanes).toEqual([lane]);
  });

  test('a handler that hangs: pause hands its order to another replica, and close ends', async () => {
    const queue = await queues.open({ drainTimeoutMs: 100 });
    const handler = new RecordingHandler();
    const lane = newLane();
    handler.hold(lane);
    await queue.consume(handler.handle);
    await queue.order([lane]);
    await until('it runs', () => handler.running === 1);
    const startedMs = performance.now();
    await queue.pause();
    const other = await queues.open();
    const otherHandler = new RecordingHandler();
    await other.consume(otherHandler.handle);
    await until('the other replica has it', () => otherHandler.count(lane) === 1);
    await queue.close();
    await queue.close();
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    handler.release(lane);
  });

  test('a process killed twice in a row in the middle of an order: the order is given out again', async () => {
    const lane = newLane();
    const worker = { lockDuration: 500, stalledInterval: 100 };
    const queue = await queues.open({ worker });
    await queue.order([lane]);
    for (let death = 1; death <= 2; death++) {
      const dying = await OrderWorkerProcess.start(where);
      expect(await dying.firstLane()).toBe(lane);
      await dying.kill();
    }
    const handler = new RecordingHandler();
    await queue.consume(handler.handle);
    await until('the survivor gets it', () => handler.count(lane) === 1);
  });

  test('after close, orders are refused', async () => {
    const queue = await queues.open();
    await queue.close();
    await expect(queue.order([newLane()])).rejects.toThrow(QueueUnavailable);
    await expect(queue.restore([newLane()])).rejects.toThrow(QueueUnavailable);
    await expect(queue.consume(async () => undefined)).rejects.toThrow('no longer');
  });

  test('restore is an order, and leaves an order that is well alone', async () => {
    const queue = await queues.open();
    const handler = new RecordingHandler();
    const [fresh, waiting] = [newLane(), newLane()];
    await queue.order([waiting]);
    await queue.restore([fresh, waiting]);
    await queue.consume(handler.handle);
    await settle(queue, handler);
    expect(handler.count(fresh)).toBe(1);
    expect(handler.count(waiting)).toBe(1);
  });
}

describeWithRedis('orders in Redis', () => {
  orderQueueContract(async () => {
    const redis = await anyRedis();
    const where = ['redis', redis.url, redis.prefix];
    return { queues: TestQueues.onRedis(redis.url, redis.prefix), where, stop: redis.stop };
  });
});

describeWithRedisServer('orders in a Redis cluster', () => {
  orderQueueContract(async () => {
    const server = await RedisServer.start({ cluster: true });
    const where = ['redis', server.url, 'reach'];
    return { queues: TestQueues.onRedis(server.url, 'reach'), where, stop: () => server.stop() };
  });
});

describe('orders in Postgres', () => {
  orderQueueContract(async () => {
    const database = await createTestDatabase({ migrated: false });
    const where = ['postgres', database.url];
    return { queues: TestQueues.onPostgres(database.url), where, stop: () => database.drop() };
  });
});
