import { retryDelayMs } from '../core/backoff.js';
import { seeded } from '../core/random.js';
import { type Coordinator, CoordinatorUnavailable } from '../platform/coordination/coordinator.js';
import { LocalCoordinator } from '../platform/coordination/local.js';
import type { Replicas } from '../probe/replicas.js';
import { RetryBudgets } from './retry-budgets.js';

const BASE = { baseMs: 1000, jitter: 0.05, capMs: 60_000 };
const TWO = { live: () => [{}, {}] } as unknown as Replicas;

/** Two replicas that share a coordinator, which counts what it is asked. */
function replicas() {
  const shared = new LocalCoordinator({ clock: () => performance.now() });
  let asked = 0;
  let away: 'no' | 'known' | 'met' = 'no';
  const coordinator = {
    available: () => away !== 'known',
    bucketTake: (...call: Parameters<Coordinator['bucketTake']>) => {
      asked++;
      if (away === 'met') return Promise.reject(new CoordinatorUnavailable('bucketTake', 'away'));
      return shared.bucketTake(...call);
    },
  } as unknown as Coordinator;
  const budgets = [new RetryBudgets(coordinator, TWO), new RetryBudgets(coordinator, TWO)] as const;
  return { budgets, asked: () => asked, lose: (how: 'known' | 'met') => (away = how) };
}

const inTime = (pauses: readonly number[]): number => pauses.filter((ms) => ms === 1000).length;

test('a thousand tasks that fail together on two replicas come back spread over more than half of the pause', async () => {
  const { budgets, asked } = replicas();
  const rng = seeded(1);
  const pauses = await Promise.all(
    Array.from({ length: 1000 }, (_, i) =>
      budgets[i % 2]!.pauseMs('default', 'work', retryDelayMs(1, BASE, rng), rng),
    ),
  );
  pauses.sort((a, b) => a - b);
  expect((pauses[950] ?? 0) - (pauses[50] ?? 0)).toBeGreaterThan(BASE.baseMs / 2);
  // And evenly: no tenth of the time sees a third of them.
  for (let fromMs = 950; fromMs < 2100; fromMs += 100)
    expect(pauses.filter((ms) => ms >= fromMs && ms < fromMs + 100).length).toBeLessThan(333);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(2.1 * BASE.baseMs);
  // The burst of both is that of one, and it took a few questions.
  expect(asked()).toBeLessThanOrEqual(8);
});

test('the burst is that of all replicas, and other capabilities have theirs', async () => {
  const { budgets } = replicas();
  const ask = (capability: string, times: number) =>
    Promise.all(
      Array.from({ length: times }, (_, i) =>
        budgets[i % 2]!.pauseMs('default', capability, 1000, () => 0.5),
      ),
    );
  const flood = inTime(await ask('flood', 200));
  expect(flood).toBeGreaterThanOrEqual(20);
  // Some may have been refilled meanwhile.
  expect(flood).toBeLessThanOrEqual(25);
  expect(inTime(await ask('work', 10))).toBe(10);
});

test.each(['known', 'met'] as const)('while the coordinator is away (%s) each has its part', async (how) => {
  const { budgets, lose } = replicas();
  lose(how);
  for (const one of budgets) {
    const pauses = await Promise.all(
      Array.from({ length: 100 }, () => one.pauseMs('default', 'work', 1000, () => 0.5)),
    );
    expect(inTime(pauses)).toBeGreaterThanOrEqual(10);
    expect(inTime(pauses)).toBeLessThanOrEqual(13);
  }
});

test('what a caller wants to be tried again beyond his budget waits for as long as his tokens take', async () => {
  const [{ budgets }, rng] = [replicas(), seeded(3)];
  const delays = await budgets[0].delaysMs('default', 'ops', 110, rng);
  expect(delays.filter((ms) => ms === 0)).toHaveLength(10);
  const [last = 0] = delays.sort((a, b) => b - a);
  expect(last).toBeLessThanOrEqual(100 * 300);
  expect(last).toBeGreaterThan(80 * 300);
  // Through whichever replica; others are not held up.
  const [next = 0] = await budgets[1].delaysMs('default', 'ops', 1, () => 1);
  expect(next).toBeGreaterThan(99 * 300);
  expect(await budgets[1].delaysMs('default', 'someone else', 3, rng)).toEqual([0, 0, 0]);
  expect(await budgets[1].delaysMs('default', 'ops', 0, rng)).toEqual([]);
});
