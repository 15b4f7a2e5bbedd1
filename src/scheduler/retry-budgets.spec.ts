import { retryDelayMs } from '../core/backoff.js';
import { seeded } from '../core/random.js';
import { RetryBudgets } from './retry-budgets.js';

const BASE = { baseMs: 1000, jitter: 0.05, capMs: 60_000 };

test('a thousand tasks that fail together come back spread over more than half of the pause', () => {
  const budgets = new RetryBudgets();
  const rng = seeded(1);
  const pauses = Array.from({ length: 1000 }, () =>
    budgets.pauseMs('default', 'work', retryDelayMs(1, BASE, rng), 0, rng),
  ).sort((a, b) => a - b);
  const spread = (pauses[950] ?? 0) - (pauses[50] ?? 0);
  expect(spread).toBeGreaterThan(BASE.baseMs / 2);
  // And evenly: no tenth of the time sees a third of them.
  for (let fromMs = 950; fromMs < 2100; fromMs += 100)
    expect(pauses.filter((ms) => ms >= fromMs && ms < fromMs + 100).length).toBeLessThan(333);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(2.1 * BASE.baseMs);
});

test('a few come at their time, whatever other capabilities do', () => {
  const budgets = new RetryBudgets();
  for (let i = 0; i < 1000; i++) budgets.pauseMs('default', 'flood', 1000, 0);
  for (let i = 0; i < 20; i++) expect(budgets.pauseMs('default', 'work', 1000, 0)).toBe(1000);
  for (let i = 0; i < 10; i++) expect(budgets.pauseMs('default', 'flood', 1000, 1000)).toBe(1000);
});
