import { dayOf, dayOfPartition, firstIdOf, partitionName } from './partition-range.js';

describe('partition ranges', () => {
  const day = dayOf(Date.parse('2026-11-29T13:00:00Z'));

  it('begins a day with the smallest id that a UUID v7 of it can have', () => {
    expect(firstIdOf(day)).toBe(`${hexOf('2026-11-29')}-0000-0000-000000000000`);
    expect(firstIdOf(day) < uuidAt('2026-11-29T00:00:00.000Z')).toBe(true);
    expect(firstIdOf(day) > uuidAt('2026-11-28T23:59:59.999Z')).toBe(true);
    expect(firstIdOf(day + 1) > uuidAt('2026-11-29T23:59:59.999Z')).toBe(true);
  });

  it.each(['1970-01-01', '2024-02-29', '2026-12-31', '2200-01-01'])('names %s both ways', (date) => {
    const some = dayOf(Date.parse(date));
    expect(partitionName('tasks', some)).toBe(`tasks_${date.replaceAll('-', '')}`);
    expect(dayOfPartition('tasks', partitionName('tasks', some))).toBe(some);
  });

  it.each(['tasks_default', 'tasks_2026112', 'tasks_20261399', 'other_20261129', 'tasks'])(
    'finds no day in %s',
    (name) => expect(dayOfPartition('tasks', name)).toBeNull(),
  );
});

function hexOf(date: string): string {
  const hex = Date.parse(date).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

function uuidAt(time: string): string {
  return `${hexOf(time)}-7abc-8def-0123456789ab`;
}
