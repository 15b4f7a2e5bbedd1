import { reconnectDelayMs } from './connections.js';

test('reconnecting backs off to 2 s, spread over the upper half', () => {
  const range = (attempt: number) => [reconnectDelayMs(attempt, 0), reconnectDelayMs(attempt, 1)];
  expect([1, 2, 3, 6, 7, 1_000_000].map(range)).toEqual([
    [25, 50],
    [50, 100],
    [100, 200],
    [800, 1_600],
    [1_000, 2_000],
    [1_000, 2_000],
  ]);
});
