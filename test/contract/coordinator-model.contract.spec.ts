import fc from 'fast-check';
import { type Coordinator } from '../../src/platform/coordination/coordinator.js';
import { LocalCoordinator } from '../../src/platform/coordination/local.js';
import { RedisCoordinator } from '../../src/platform/coordination/redis.js';
import { parseRedisUrl } from '../../src/platform/coordination/redis-url.js';
import { anyRedis, describeWithRedis, type TestRedis } from '../support/redis.js';

/** One side of the comparison, with the version it read last. */
type Side = { coordinator: Coordinator; version: number };
type Step = (side: Side, run: string) => Promise<unknown>;

const key = fc.constantFrom('a', 'b', '{x}');
const id = fc.constantFrom('d1', 'd2', 'd3', 'd:4', '{5}');
const ids = fc.array(id, { maxLength: 6 });
const small = fc.nat({ max: 6 });

/** Builds a step that prints as what it does, for the counterexamples. */
function step(label: string, act: Step): Step {
  return Object.assign(act, { [fc.toStringMethod]: () => label });
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(key, id)
    .map(([k, v]) => step(`set ${k}=${v}`, (s, r) => s.coordinator.setIfAbsent(r + k, v, 60_000))),
  key.map((k) => step(`get ${k}`, (s, r) => s.coordinator.get(r + k))),
  fc
    .tuple(key, fc.option(id, { nil: undefined }))
    .map(([k, v]) => step(`remove ${k} if ${v}`, (s, r) => s.coordinator.remove(r + k, v))),
  fc
    .tuple(key, small, small)
    .map(([k, n, m]) => step(`reserve ${k} ${n}/${m}`, (s, r) => s.coordinator.counterReserve(r + k, n, m))),
  fc
    .tuple(key, fc.integer({ min: -4, max: 4 }))
    .map(([k, n]) => step(`add ${k} ${n}`, (s, r) => s.coordinator.counterAdd(r + k, n))),
  fc.tuple(key, small).map(([k, n]) => step(`seed ${k} ${n}`, (s, r) => s.coordinator.counterSeed(r + k, n))),
  key.map((k) =>
    step(`read ${k}`, async (s, r) => {
      const reading = await s.coordinator.counterRead(r + k);
      if (reading === 'unknown') return reading;
      s.version = reading.version;
      return reading.value;
    }),
  ),
  fc
    .tuple(key, small)
    .map(([k, n]) => step(`correct ${k} ${n}`, (s, r) => s.coordinator.counterCorrect(r + k, n, s.version))),
  fc
    .tuple(key, ids, small)
    .map(([k, d, m]) =>
      step(`slots ${k} +${d.join()}/${m}`, (s, r) => s.coordinator.slotsReserve(r + k, d, m)),
    ),
  fc
    .tuple(key, ids)
    .map(([k, d]) => step(`slots ${k} -${d.join()}`, (s, r) => s.coordinator.slotsRelease(r + k, d))),
  fc
    .tuple(key, ids)
    .map(([k, d]) => step(`slots ${k} =${d.join()}`, (s, r) => s.coordinator.slotsSeed(r + k, d))),
  key.map((k) =>
    step(`slots ${k}?`, async (s, r) => {
      const held = await s.coordinator.slotsList(r + k);
      return held === 'unknown' ? held : held.map((slot) => slot.id).sort();
    }),
  ),
  fc
    .tuple(key, ids, small)
    .map(([k, d, m]) => step(`push ${k} ${d.join()}/${m}`, (s, r) => s.coordinator.inboxPush(r + k, d, m))),
  fc.tuple(key, small).map(([k, n]) => step(`pop ${k} ${n}`, (s, r) => s.coordinator.inboxPop(r + k, n))),
  fc.tuple(key, small, small).map(([k, n, debt]) =>
    step(`take ${k} ${n}, ${debt} owed at most`, (s, r) =>
      // So slow that the clocks of the two do not matter.
      s.coordinator.bucketTake(r + k, n, { capacity: 5, perSecond: 1e-6, overdraft: debt }),
    ),
  ),
  fc
    .tuple(key, ids)
    .map(([k, d]) => step(`unpush ${k} ${d.join()}`, (s, r) => s.coordinator.inboxRemove(r + k, d))),
);

describeWithRedis('Local and Redis', () => {
  let redis: TestRedis;
  let shared: RedisCoordinator;
  let runs = 0;

  beforeAll(async () => {
    redis = await anyRedis();
    shared = new RedisCoordinator({ target: parseRedisUrl(redis.url), keyPrefix: redis.prefix });
    expect(await shared.waitUntilAvailable(5_000)).toBe(true);
  });
  afterAll(async () => {
    await shared.close();
    await redis.stop();
  });

  test('answer every sequence of calls alike', async () => {
    const property = fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (sequence) => {
      const run = `${++runs}:`;
      const local: Side = {
        coordinator: new LocalCoordinator({ clock: () => performance.now() }),
        version: 0,
      };
      const remote: Side = { coordinator: shared, version: 0 };
      for (const act of sequence) expect(await act(local, run)).toEqual(await act(remote, run));
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
