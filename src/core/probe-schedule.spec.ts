import fc from 'fast-check';
import { HOST_GAP_MS, HostPace, Spacing, nextDueMs, phaseMs, ShardPace } from './probe-schedule.js';
import { ProbeShard, type Probed } from './probe-shard.js';

const INTERVAL = 30_000;

test('a probe is followed by the next after half an interval to one, and after two in its phase', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.string(), (start, key) => {
      const phase = phaseMs(key, INTERVAL);
      let at = start;
      for (let i = 0; i < 2; i++) {
        const next = nextDueMs(at, INTERVAL, phase);
        expect(next - at).toBeGreaterThanOrEqual(INTERVAL / 2 - 1);
        expect(next - at).toBeLessThanOrEqual(INTERVAL * 1.02);
        at = next;
      }
      for (let i = 0; i < 3; i++) {
        const next = nextDueMs(at, INTERVAL, phase);
        expect(Math.abs(next - at - INTERVAL)).toBeLessThan(1);
        at = next;
      }
    }),
  );
});

test('a clock that is set right by some milliseconds makes nobody be probed twice', () => {
  const phase = phaseMs('key', INTERVAL);
  const due = nextDueMs(1e6, INTERVAL, phase);
  const steady = nextDueMs(nextDueMs(due, INTERVAL, phase), INTERVAL, phase);
  for (const jumpMs of [-20, -1, 0, 1, 20]) {
    const next = nextDueMs(steady + jumpMs, INTERVAL, phase);
    expect(Math.abs(next - steady - INTERVAL)).toBeLessThan(1);
  }
});

test('3 000 targets start evenly: the fullest second holds at most 1.5 times the mean', () => {
  const seconds = new Array<number>(30).fill(0);
  for (let i = 0; i < 3000; i++) {
    const at = Math.floor(phaseMs(`http https://service-${i}.example/health`, INTERVAL) / 1000);
    seconds[at] = (seconds[at] ?? 0) + 1;
  }
  expect(Math.max(...seconds)).toBeLessThanOrEqual(150);
});

test('what starts soon starts one after the other', () => {
  const spacing = new Spacing();
  expect([0, 0, 0].map((now) => spacing.slotMs(now, 50))).toEqual([0, 20, 40]);
  expect(spacing.slotMs(1000, 50)).toBe(1000);
});

test('a host is free again a second after a start', () => {
  const hosts = new HostPace();
  expect(hosts.freeAtMs('tcp db:5432')).toBeLessThan(0);
  hosts.started('tcp db:5432', 5000);
  expect(hosts.freeAtMs('tcp db:5432')).toBe(5000 + HOST_GAP_MS);
  expect(hosts.freeAtMs('tcp other:5432')).toBeLessThan(0);
});

test('a shard that is over a second late in more than one of twenty starts halves its rate, and recovers', () => {
  const pace = new ShardPace();
  const stretches: number[] = [];
  for (let window = 0; window < 8; window++) {
    for (let i = 0; i < 40; i++) {
      const late = window < 3 ? i < 3 : i < 2;
      pace.started(late ? 1001 : 900, window * 10_000 + i * 100);
    }
    stretches.push(pace.stretch(window * 10_000 + 10_000));
  }
  expect(stretches).toEqual([2, 4, 8, 4, 2, 1, 1, 1]);
});

const item = (id: string, more: Partial<Probed> = {}): Probed => ({ id, host: undefined, rank: 2, ...more });

test('of what is due, confirming comes first, then what is critical, then the rest', () => {
  const shard = new ProbeShard(10, new HostPace());
  shard.schedule(item('rest'), 0);
  shard.schedule(item('critical', { rank: 1 }), 10);
  shard.schedule(item('confirm', { rank: 0 }), 20);
  shard.schedule(item('later', { rank: 0 }), 1000);
  const order = [1, 2, 3, 4].map(() => shard.take(100)?.item.id);
  expect(order).toEqual(['confirm', 'critical', 'rest', undefined]);
  expect(shard.nextMs()).toBe(1000);
});

test('the pool bounds what runs, and the wait is measured', () => {
  const shard = new ProbeShard(1, new HostPace());
  shard.schedule(item('a'), 0);
  shard.schedule(item('b'), 0);
  expect(shard.take(0)).toEqual({ item: item('a'), queuedMs: 0 });
  expect(shard.take(0)).toBeUndefined();
  expect(shard.nextMs()).toBeUndefined();
  shard.ended();
  expect(shard.take(700)).toEqual({ item: item('b'), queuedMs: 700 });
});

test('waiting for the host is no lateness of the shard', () => {
  const shard = new ProbeShard(10, new HostPace());
  const host = 'http api:443';
  shard.schedule(item('a', { host }), 0);
  shard.schedule(item('b', { host }), 0);
  expect(shard.take(0)?.item.id).toBe('a');
  expect(shard.take(0)).toBeUndefined();
  expect(shard.nextMs()).toBe(HOST_GAP_MS);
  expect(shard.take(HOST_GAP_MS)).toEqual({ item: item('b', { host }), queuedMs: 0 });
});

test('what is cancelled or moved does not start at its old time', () => {
  const shard = new ProbeShard(10, new HostPace());
  shard.schedule(item('a'), 0);
  shard.schedule(item('b'), 0);
  shard.cancel('a');
  shard.schedule(item('b', { rank: 0 }), 500);
  expect(shard.take(100)).toBeUndefined();
  expect(shard.take(500)?.item.id).toBe('b');
});
