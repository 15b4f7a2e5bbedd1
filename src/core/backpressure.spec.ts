import { comeAgainMs, Flow } from './backpressure.js';

test('a flow remembers about ten seconds', () => {
  const flow = new Flow();
  expect(flow.recent(0)).toBe(0);
  for (let second = 0; second < 60; second++)
    for (let i = 0; i < 10; i++) flow.add(5, second * 1000 + i * 100);
  // 50 a second.
  expect(flow.recent(60_000)).toBeGreaterThan(470);
  expect(flow.recent(60_000)).toBeLessThan(510);
  expect(flow.recent(120_000)).toBeLessThan(2);
});

test.each([
  // As many were refused as 4 s drain: 40 of 100 in 10 s.
  [40, 100, 0, 4000],
  [40, 100, 1, 6000],
  // One of many: at least a second.
  [1, 1000, 0, 1000],
  // More than will be gone in 20 s, or nothing moves at all.
  [5000, 100, 0, 20_000],
  [5000, 100, 1, 30_000],
  [1, 0, 0, 20_000],
])('%d refused, %d gone: again after %d of a half more, %d ms', (refused, drained, chance, ms) => {
  expect(comeAgainMs(refused, drained, () => chance)).toBe(ms);
});
