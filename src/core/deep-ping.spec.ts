import { deepIntervalMs, hasRoomForPing } from './deep-ping.js';

const load = (poolUsage: number, queued = 0) => ({ poolUsage, queued });

test.each([
  [load(0), true],
  [load(0.79), true],
  [load(0.8), false],
  [load(0, 1), false],
  [undefined, false],
])('an agent at %j has room: %s', (reported, room) => {
  expect(hasRoomForPing(reported)).toBe(room);
});

test.each([
  [0, 12, 60_000],
  [0.5, 12, 120_000],
  [0, 1, 60_000],
  [0, 2, 240_000],
  [0, 5, 240_000],
  [0.7, 5, 480_000],
  [0, 6, 60_000],
])('at a usage of %f and %i o’clock a minute becomes %i ms', (usage, hour, expected) => {
  expect(deepIntervalMs(60_000, load(usage), hour)).toBe(expected);
});
