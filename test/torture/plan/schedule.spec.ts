import { scheduleOf, type ScheduleOptions, FAULTS } from './schedule.js';
import { planOf } from './work.js';

const options: ScheduleOptions = {
  mode: 'distributed',
  durationMs: 600_000,
  everyMs: 4000,
  dispatchers: 3,
  groups: 4,
};

test('a seed makes the same faults and the same tasks again, another seed others', () => {
  expect(scheduleOf(7, options)).toEqual(scheduleOf(7, options));
  expect(scheduleOf(7, options)).not.toEqual(scheduleOf(8, options));
  expect(planOf(7, 3)).toEqual(planOf(7, 3));
  expect(planOf(7, 3)).not.toEqual(planOf(8, 3));
});

test('every kind has its turn before any has the next', () => {
  const faults = scheduleOf(1, options);
  const kinds = Object.values(FAULTS).filter(({ modes }) => modes.length > 0).length;
  expect(new Set(faults.slice(0, kinds).map((f) => f.kind)).size).toBe(kinds);
});

test('faults keep to what there is, to the time, and to the mean pace', () => {
  const faults = scheduleOf(2, options);
  expect(faults.length).toBeGreaterThan(100);
  expect(faults.length).toBeLessThan(220);
  for (const { kind, target, atMs, forMs } of faults) {
    const of = FAULTS[kind];
    expect(target).toBeLessThan(
      { dispatcher: 3, group: 4, fleet: 1, link: 9, load: 1, redis: 1, postgres: 1 }[of.target],
    );
    expect(atMs).toBeLessThan(options.durationMs);
    expect(forMs).toBeGreaterThanOrEqual(of.ms[0]);
    expect(forMs).toBeLessThanOrEqual(of.ms[1]);
  }
});

test('embedded mode has no Redis to break', () => {
  const kinds = new Set(scheduleOf(3, { ...options, mode: 'embedded' }).map((f) => f.kind));
  expect([...kinds].filter((k) => FAULTS[k].target === 'redis')).toEqual([]);
});
