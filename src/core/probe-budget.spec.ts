import { planOf, rateOf, SAMPLED_PER_SECOND } from './probe-budget.js';

const target = (id: number, more = {}) => ({
  id: `t${id}`,
  isCritical: id % 3 === 0,
  size: (id % 7) + 1,
  ...more,
});
const targets = (count: number) => Array.from({ length: count }, (_, i) => target(i));

test('100 agents with three dependencies each: ten probes a second', () => {
  expect(rateOf('dependencies', 300, 30_000).perSecond).toBe(10);
});

test('up to 10 000 agents everything is probed in full', () => {
  expect(planOf(10_000, targets(30_000), 1000, 30_000)).toEqual({ full: undefined, stretch: 1 });
});

test('beyond, the critical targets that most agents share are probed in full, and the rest keeps to the rate', () => {
  const all = targets(90_000);
  const { full, stretch } = planOf(30_000, all, 3000, 30_000);
  expect(full?.size).toBe(3000);
  const chosen = all.filter((t) => full?.has(t.id));
  expect(chosen.every((t) => t.isCritical)).toBe(true);
  const leastChosen = Math.min(...chosen.map((t) => t.size));
  const mostLeft = Math.max(...all.filter((t) => t.isCritical && !full?.has(t.id)).map((t) => t.size));
  expect(leastChosen).toBeGreaterThanOrEqual(mostLeft);
  const rate = 3000 / 30 + 87_000 / (30 * stretch);
  expect(rate).toBeCloseTo(SAMPLED_PER_SECOND);
});

test('where critical targets alone are too many the rest is still looked at, rarely', () => {
  const { stretch } = planOf(20_000, targets(100_000), 40_000, 30_000);
  expect(stretch).toBeGreaterThan(1000);
  expect(Number.isFinite(stretch)).toBe(true);
});
