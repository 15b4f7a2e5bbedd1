import {
  COLD,
  MOST_SLOW_LOTS,
  WARM_UP_ALONE_MS,
  warmedBy,
  type WarmUp,
  type WarmUpRules,
} from './warm-up.js';

const ALONE: WarmUpRules = { probes: 50, groupP95Ms: undefined };
const GROUP: WarmUpRules = { probes: 50, groupP95Ms: 20 };

/** The warm-up after `times` probes of `latencyMs` each. */
function after(times: number, latencyMs: number, rules: WarmUpRules, from: WarmUp = COLD): WarmUp {
  let warmUp = from;
  for (let i = 0; i < times; i++) warmUp = warmedBy(warmUp, latencyMs, rules);
  return warmUp;
}

test('fifty quick probes pass, and not one less', () => {
  expect(after(49, 5, GROUP)).toEqual({ good: 49, totalMs: 245, passed: false });
  expect(after(50, 5, GROUP).passed).toBe(true);
});

test('alone, an agent has to answer within a second on average', () => {
  expect(after(50, WARM_UP_ALONE_MS - 1, ALONE).passed).toBe(true);
  expect(after(50, WARM_UP_ALONE_MS, ALONE)).toEqual({ ...COLD, slowLots: 1 });
});

test('in a group it has to be faster than its P95', () => {
  expect(after(50, 19, GROUP).passed).toBe(true);
  expect(after(50, 20, GROUP)).toEqual({ ...COLD, slowLots: 1 });
});

test('slow first probes do not count once fifty quick ones came', () => {
  const slow = after(50, 500, GROUP);
  expect(after(50, 5, GROUP, slow)).toEqual({ good: 50, totalMs: 250, passed: true });
});

test('one that stays slower than its group is let in after three lots, and it is said of it', () => {
  const almost = after(50 * MOST_SLOW_LOTS - 1, 500, GROUP);
  expect(almost.passed).toBe(false);
  expect(warmedBy(almost, 500, GROUP)).toEqual({
    good: 50,
    totalMs: 25_000,
    passed: true,
    slowLots: MOST_SLOW_LOTS,
    slow: true,
  });
});

test('passed is passed', () => {
  const passed = after(50, 5, GROUP);
  expect(after(200, 5000, GROUP, passed)).toBe(passed);
});
