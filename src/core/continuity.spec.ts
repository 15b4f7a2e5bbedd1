import { Continuity } from './continuity.js';

test('trust grows while ticks come, and begins anew after a break', () => {
  const trust = new Continuity(0, 3000);
  expect(trust.tick(1000)).toBe(1000);
  expect(trust.tick(4000)).toBe(4000);
  expect(trust.tick(8000)).toBe(0); // the process was stopped for 4 s
  expect(trust.tick(9000)).toBe(1000);
  trust.broken(9500); // the database did not answer
  expect(trust.tick(10_000)).toBe(500);
});
