import { CoordinatorUnavailable, type Coordinator } from '../../src/platform/coordination/coordinator.js';
import { LocalCoordinator } from '../../src/platform/coordination/local.js';
import { RedisCoordinator } from '../../src/platform/coordination/redis.js';
import { parseRedisUrl } from '../../src/platform/coordination/redis-url.js';
import { RedisServer } from '../support/redis-server.js';
import { anyRedis, describeWithRedis, describeWithRedisServer } from '../support/redis.js';
import { until } from '../support/until.js';

/** A coordinator to test, and a way to let its time pass. */
type Subject = { coordinator: Coordinator; pass: (ms: number) => Promise<void> };

const ODD_KEYS = [
  ...[
    'a:b',
    'a:b:c',
    '{x}',
    '}{',
    '{}',
    'a}:slots',
    '123',
    '0123',
    '',
    ' ',
    'x/y',
    '..',
    '*',
    'a\nb',
    '\u0000',
  ],
  ...['é', 'e\u0301', '👩‍🚀', 'ключ', 'k'.repeat(300), 'k'.repeat(299) + 'l'],
];
const DAY_MS = 86_400_000;

/** What every coordinator promises. `make` is called once for each suite; keys are never reused. */
function coordinatorContract(make: () => Promise<Subject & { stop: () => Promise<void> }>): void {
  let subject: Subject & { stop: () => Promise<void> };
  let c: Coordinator;
  let keyCount = 0;
  const newKey = () => `key-${++keyCount}`;
  const range = (n: number) => Array.from({ length: n }, (_, i) => i);

  beforeAll(async () => {
    subject = await make();
    c = subject.coordinator;
  });
  afterAll(async () => {
    await c.close();
    await subject.stop();
  });

  describe('values', () => {
    test('setIfAbsent sets once and then tells what is there', async () => {
      const key = newKey();
      expect(await c.get(key)).toBeNull();
      expect(await c.setIfAbsent(key, 'first', DAY_MS)).toBeNull();
      expect(await c.setIfAbsent(key, 'second', DAY_MS)).toBe('first');
      expect(await c.get(key)).toBe('first');
    });

    test('of many parallel setIfAbsent exactly one sets', async () => {
      const key = newKey();
      const answers = await Promise.all(range(100).map((i) => c.setIfAbsent(key, `v${i}`, DAY_MS)));
      const winners = range(100).filter((i) => answers[i] === null);
      expect(winners).toHaveLength(1);
      expect(new Set(answers.filter((answer) => answer !== null))).toEqual(new Set([`v${winners[0]}`]));
    });

    test('a value is gone after its time to live, which a second setIfAbsent does not prolong', async () => {
      const key = newKey();
      await c.setIfAbsent(key, 'v', 200);
      expect(await c.setIfAbsent(key, 'other', DAY_MS)).toBe('v');
      await subject.pass(200);
      await until('the value expires', async () => (await c.get(key)) === null);
      expect(await c.remove(key)).toBe(false);
      expect(await c.setIfAbsent(key, 'next', DAY_MS)).toBeNull();
    });

    test('remove takes a value away, with a condition only the expected one', async () => {
      const key = newKey();
      expect(await c.remove(key)).toBe(false);
      await c.setIfAbsent(key, 'mine', DAY_MS);
      expect(await c.remove(key, 'theirs')).toBe(false);
      expect(await c.get(key)).toBe('mine');
      expect(await c.remove(key, 'mine')).toBe(true);
      expect(await c.remove(key, 'mine')).toBe(false);
      await c.setIfAbsent(key, 'again', DAY_MS);
      expect(await c.remove(key)).toBe(true);
      expect(await c.get(key)).toBeNull();
    });
  });

  describe('counters', () => {
    test('an unknown counter says so and is changed by nothing but a seed', async () => {
      const key = newKey();
      expect(await c.counterReserve(key, 1, 10)).toBe('unknown');
      await c.counterAdd(key, 5);
      expect(await c.counterRead(key)).toBe('unknown');
      expect(await c.counterCorrect(key, 5, 0)).toBe(false);
      expect(await c.counterRead(key)).toBe('unknown');
      expect(await c.counterSeed(key, 4)).toBe(true);
      expect(await c.counterSeed(key, 7)).toBe(false);
      expect(await c.counterRead(key)).toMatchObject({ value: 4 });
    });

    test('reserve grants what is left below the limit', async () => {
      const key = newKey();
      await c.counterSeed(key, 4);
      expect(await c.counterReserve(key, 3, 10)).toEqual({ granted: 3, value: 7 });
      expect(await c.counterReserve(key, 5, 10)).toEqual({ granted: 3, value: 10 });
      expect(await c.counterReserve(key, 1, 10)).toEqual({ granted: 0, value: 10 });
      expect(await c.counterReserve(key, 1, 5)).toEqual({ granted: 0, value: 10 });
      expect(await c.counterReserve(key, 0, 20)).toEqual({ granted: 0, value: 10 });
    });

    test('200 parallel reserves with a limit of 10 are granted exactly 10', async () => {
      const key = newKey();
      await c.counterSeed(key, 0);
      const grants = await Promise.all(range(200).map(() => c.counterReserve(key, 1, 10)));
      expect(grants.filter((grant) => grant !== 'unknown' && grant.granted === 1)).toHaveLength(10);
      expect(await c.counterRead(key)).toMatchObject({ value: 10 });
    });

    test('add never goes below 0', async () => {
      const key = newKey();
      await c.counterSeed(key, 2);
      await c.counterAdd(key, 3);
      expect(await c.counterRead(key)).toMatchObject({ value: 5 });
      await c.counterAdd(key, -7);
      expect(await c.counterRead(key)).toMatchObject({ value: 0 });
    });

    test('correct works with the version just read and with no other', async () => {
      const key = newKey();
      await c.counterSeed(key, 2);
      const versions: number[] = [];
      const read = async () => {
        const reading = await c.counterRead(key);
        if (reading === 'unknown') throw new Error('unknown');
        versions.push(reading.version);
        return reading.version;
      };
      const beforeAdd = await read();
      await c.counterAdd(key, 1);
      expect(await c.counterCorrect(key, 9, beforeAdd)).toBe(false);
      const beforeReserve = await read();
      await c.counterReserve(key, 1, 10);
      expect(await c.counterCorrect(key, 9, beforeReserve)).toBe(false);
      const beforeCorrect = await read();
      await c.counterReserve(key, 1, 0); // grants nothing, so nothing moved
      expect(await c.counterCorrect(key, 9, beforeCorrect)).toBe(true);
      expect(await c.counterRead(key)).toMatchObject({ value: 9 });
      expect(await c.counterCorrect(key, 1, beforeCorrect)).toBe(false);
      await read();
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
      expect(new Set(versions).size).toBe(versions.length);
    });
  });

  describe('slots', () => {
    test('are unknown until seeded, perhaps with nothing, and only once', async () => {
      const agent = newKey();
      expect(await c.slotsReserve(agent, ['d1'], 2)).toBe('unknown');
      await c.slotsRelease(agent, ['d1']);
      expect(await c.slotsList(agent)).toBe('unknown');
      expect(await c.slotsSeed(agent, [])).toBe(true);
      expect(await c.slotsList(agent)).toEqual([]);
      expect(await c.slotsSeed(agent, ['d9'])).toBe(false);
      expect(await c.slotsList(agent)).toEqual([]);
    });

    test('reserve grants in order up to the limit and repeats harmlessly', async () => {
      const agent = newKey();
      await c.slotsSeed(agent, ['d1', 'd1']);
      expect(await c.slotsReserve(agent, ['d2', 'd3', 'd4'], 3)).toBe(2);
      expect(await c.slotsReserve(agent, ['d2', 'd3', 'd4'], 3)).toBe(2);
      expect(await c.slotsReserve(agent, ['d5', 'd2'], 3)).toBe(0);
      expect(await c.slotsReserve(agent, [], 3)).toBe(0);
      expect(await c.slotsReserve(agent, ['d1', 'd3', 'd6'], 1)).toBe(2);
      expect(await ids(agent)).toEqual(['d1', 'd2', 'd3']);
      await c.slotsRelease(agent, ['d1', 'd1', 'nobody']);
      await c.slotsRelease(agent, ['d1']);
      expect(await c.slotsReserve(agent, ['d4', 'd5'], 3)).toBe(1);
      expect(await ids(agent)).toEqual(['d2', 'd3', 'd4']);
    });

    test('the limit holds under parallel reserves, and an emptied set stays known', async () => {
      const agent = newKey();
      await c.slotsSeed(agent, []);
      const granted = await Promise.all(range(200).map((i) => c.slotsReserve(agent, [`d${i}`], 7)));
      expect(granted.filter((n) => n === 1)).toHaveLength(7);
      const held = await ids(agent);
      expect(held).toHaveLength(7);
      await Promise.all(range(200).map((i) => c.slotsRelease(agent, [`d${i}`])));
      expect(await ids(agent)).toEqual([]);
      expect(await c.slotsReserve(agent, ['d1'], 1)).toBe(1);
    });

    test('the list tells how long each has been held; repeating a reserve does not make it younger', async () => {
      const agent = newKey();
      await c.slotsSeed(agent, ['old']);
      await subject.pass(30);
      await c.slotsReserve(agent, ['old', 'new'], 5);
      const list = await c.slotsList(agent);
      if (list === 'unknown') throw new Error('unknown');
      const age = new Map(list.map(({ id, ageMs }) => [id, ageMs]));
      expect(age.get('old')).toBeGreaterThanOrEqual(30);
      expect(age.get('old')! - age.get('new')!).toBeGreaterThanOrEqual(30);
      expect(age.get('new')).toBeGreaterThanOrEqual(0);
    });

    const ids = async (agent: string) => {
      const list = await c.slotsList(agent);
      return list === 'unknown' ? list : list.map(({ id }) => id).sort();
    };
  });

  describe('inboxes', () => {
    test('are first in, first out, and bounded', async () => {
      const agent = newKey();
      expect(await c.inboxPop(agent, 5)).toEqual([]);
      expect(await c.inboxPush(agent, ['a', 'b'], 3)).toBe(2);
      expect(await c.inboxPush(agent, ['c', 'd'], 3)).toBe(1);
      expect(await c.inboxPush(agent, ['e'], 3)).toBe(0);
      expect(await c.inboxPush(agent, ['e'], 1)).toBe(0);
      expect(await c.inboxPush(agent, [], 9)).toBe(0);
      expect(await c.inboxPop(agent, 0)).toEqual([]);
      expect(await c.inboxPop(agent, 2)).toEqual(['a', 'b']);
      expect(await c.inboxPop(agent, 2)).toEqual(['c']);
      expect(await c.inboxPop(agent, 2)).toEqual([]);
    });

    test('remove takes an item out wherever it stands', async () => {
      const agent = newKey();
      await c.inboxRemove(agent, ['a']);
      await c.inboxPush(agent, ['a', 'b', 'c', 'b', 'd'], 9);
      await c.inboxRemove(agent, ['b', 'd', 'nothing']);
      await c.inboxRemove(agent, []);
      expect(await c.inboxPop(agent, 9)).toEqual(['a', 'c']);
    });

    test('the bound holds under parallel pushes, and parallel pops hand out each item once', async () => {
      const agent = newKey();
      const taken = await Promise.all(range(200).map((i) => c.inboxPush(agent, [`i${i}`], 50)));
      expect(taken.filter((n) => n === 1)).toHaveLength(50);
      const popped = (await Promise.all(range(60).map(() => c.inboxPop(agent, 3)))).flat();
      expect(popped).toHaveLength(50);
      expect(new Set(popped).size).toBe(50);
    });
  });

  describe('buckets', () => {
    const RULE = { capacity: 5, perSecond: 10 };

    test('a bucket is full at first, gives what is there, and refills at its rate up to its capacity', async () => {
      const key = newKey();
      expect(await c.bucketTake(key, 3, RULE)).toEqual({ granted: 3, owed: 0 });
      expect((await c.bucketTake(key, 3, RULE)).granted).toBe(2);
      const before = performance.now();
      await subject.pass(300);
      const more = (await c.bucketTake(key, 100, RULE)).granted;
      expect(more).toBeGreaterThanOrEqual(3);
      expect(more).toBeLessThanOrEqual(Math.min(5, 4 + (performance.now() - before) / 100));
      await subject.pass(2000);
      expect((await c.bucketTake(key, 100, RULE)).granted).toBe(5);
    });

    test('what is missing is owed, as far as the rule allows', async () => {
      const key = newKey();
      const rule = { capacity: 2, perSecond: 0.001, overdraft: 10 };
      expect(await c.bucketTake(key, 6, rule)).toEqual({ granted: 2, owed: 4 });
      expect(await c.bucketTake(key, 100, rule)).toEqual({ granted: 0, owed: 10 });
      expect(await c.bucketTake(key, 1, { ...rule, overdraft: 0 })).toEqual({ granted: 0, owed: 10 });
    });

    test('of 200 that ask at once only as many get one as there are', async () => {
      const key = newKey();
      const rule = { capacity: 7, perSecond: 0.001 };
      const grants = await Promise.all(range(200).map(() => c.bucketTake(key, 1, rule)));
      expect(grants.filter((g) => g.granted === 1)).toHaveLength(7);
    });

    test.each([
      [-1, RULE],
      [1, { ...RULE, capacity: 0 }],
      [1, { ...RULE, perSecond: 0 }],
      [1, { ...RULE, perSecond: NaN }],
      [1, { ...RULE, overdraft: 0.5 }],
    ])('%j of %j makes no sense', async (wanted, rule) => {
      await expect(c.bucketTake(newKey(), wanted, rule)).rejects.toThrow(RangeError);
    });
  });

  describe('news', () => {
    test('reaches every subscriber of the channel, the publisher too, and no other channel', async () => {
      const channel = newKey();
      const heard: string[] = [];
      const stopA = await c.subscribe(channel, (message) => heard.push(`a:${message}`));
      await c.subscribe(channel, (message) => heard.push(`b:${message}`));
      await c.subscribe(`${channel}x`, (message) => heard.push(`x:${message}`));
      await c.publish(channel, '{"n":1}');
      await until('both hear it', () => heard.length === 2);
      await stopA();
      await stopA();
      await c.publish(channel, '');
      await c.publish(`${channel}x`, 'end');
      await until('the last message arrives', () => heard.includes('x:end'));
      expect(heard.sort()).toEqual(['a:{"n":1}', 'b:', 'b:{"n":1}', 'x:end']);
    });

    test('a channel can be left and heard again', async () => {
      const channel = newKey();
      const heard: string[] = [];
      const stop = await c.subscribe(channel, () => heard.push('first'));
      await stop();
      await c.subscribe(channel, () => heard.push('second'));
      await c.publish(channel, 'x');
      await until('it is heard', () => heard.length > 0);
      expect(heard).toEqual(['second']);
    });

    test('a handler that throws does not stop the others', async () => {
      const channel = newKey();
      const heard: string[] = [];
      await c.subscribe(channel, () => {
        throw new Error('handler');
      });
      await c.subscribe(channel, (message) => heard.push(message));
      await c.publish(channel, 'x');
      await until('the second hears it', () => heard.length === 1);
    });
  });

  test('odd keys and ids all work and are all different things', async () => {
    const base = newKey();
    const key = (odd: string) => odd + base;
    for (const odd of ODD_KEYS) {
      expect(await c.setIfAbsent(key(odd), odd, DAY_MS)).toBeNull();
      expect(await c.counterSeed(key(odd), ODD_KEYS.indexOf(odd))).toBe(true);
      expect(await c.slotsSeed(key(odd), [`${odd}!`])).toBe(true);
      expect(await c.inboxPush(key(odd), [odd], 5)).toBe(1);
    }
    for (const odd of ODD_KEYS) {
      expect(await c.get(key(odd))).toBe(odd);
      expect(await c.counterReserve(key(odd), 0, 0)).toEqual({ granted: 0, value: ODD_KEYS.indexOf(odd) });
      expect(await c.slotsList(key(odd))).toMatchObject([{ id: `${odd}!` }]);
      expect(await c.inboxPop(key(odd), 5)).toEqual([odd]);
    }
    const agent = newKey();
    const ids = ODD_KEYS.filter((odd) => odd !== '');
    await c.slotsSeed(agent, []);
    expect(await c.slotsReserve(agent, ids, ids.length)).toBe(ids.length);
    expect(await c.slotsList(agent)).toHaveLength(ids.length);
    const heard: string[] = [];
    for (const odd of ODD_KEYS) {
      await c.subscribe(key(odd), (message) => heard.push(message));
      await c.publish(key(odd), odd);
    }
    await until('all odd channels are heard', () => heard.length === ODD_KEYS.length);
    expect(heard).toEqual(ODD_KEYS);
  });

  test('arguments without sense are refused with a RangeError', async () => {
    for (const bad of [-1, 0.5, Number.NaN, Infinity, 2 ** 60]) {
      await expect(c.setIfAbsent('k', 'v', bad)).rejects.toThrow(RangeError);
      await expect(c.counterReserve('k', bad, 5)).rejects.toThrow(RangeError);
      await expect(c.counterReserve('k', 5, bad)).rejects.toThrow(RangeError);
      await expect(c.counterSeed('k', bad)).rejects.toThrow(RangeError);
      await expect(c.slotsReserve('k', ['d'], bad)).rejects.toThrow(RangeError);
      await expect(c.inboxPush('k', ['d'], bad)).rejects.toThrow(RangeError);
      await expect(c.inboxPop('k', bad)).rejects.toThrow(RangeError);
    }
    await expect(c.setIfAbsent('k', 'v', 0)).rejects.toThrow(RangeError);
    await expect(c.slotsReserve('k', [''], 5)).rejects.toThrow(RangeError);
    await expect(c.slotsSeed('k', [''])).rejects.toThrow(RangeError);
    await expect(c.slotsRelease('k', [''])).rejects.toThrow(RangeError);
  });

  test('after close everything rejects, and closing again is harmless', async () => {
    const { coordinator, stop } = await make();
    expect(coordinator.available()).toBe(true);
    await coordinator.close();
    await coordinator.close();
    expect(coordinator.available()).toBe(false);
    await expect(coordinator.get('k')).rejects.toThrow(CoordinatorUnavailable);
    await expect(coordinator.counterReserve('k', 1, 1)).rejects.toThrow(CoordinatorUnavailable);
    await expect(coordinator.publish('k', 'm')).rejects.toThrow(CoordinatorUnavailable);
    await expect(coordinator.subscribe('k', () => undefined)).rejects.toThrow(CoordinatorUnavailable);
    await stop();
  });
}

/** By the clock that Redis reads too, whose milliseconds are cut off: a timer may fire up to one early. */
async function realTime(ms: number): Promise<void> {
  const untilMs = Date.now() + ms + 1;
  do await new Promise((resolve) => setTimeout(resolve, untilMs - Date.now()));
  while (Date.now() < untilMs);
}

async function onRedis(redis: { url: string; prefix: string; stop: () => Promise<void> }) {
  const coordinator = new RedisCoordinator({ target: parseRedisUrl(redis.url), keyPrefix: redis.prefix });
  if (!(await coordinator.waitUntilAvailable(5_000))) throw new Error('the test redis cannot be used');
  return { coordinator, pass: realTime, stop: redis.stop };
}

describe('LocalCoordinator', () => {
  coordinatorContract(async () => {
    let nowMs = 1_000;
    return {
      coordinator: new LocalCoordinator({ clock: () => nowMs }),
      pass: async (ms) => void (nowMs += ms),
      stop: async () => undefined,
    };
  });
});

describeWithRedis('RedisCoordinator', () => {
  coordinatorContract(async () => onRedis(await anyRedis()));
});

describeWithRedisServer('RedisCoordinator on a cluster', () => {
  coordinatorContract(async () => {
    const server = await RedisServer.start({ cluster: true });
    return onRedis({ url: server.url, prefix: 'reach', stop: () => server.stop() });
  });
});
