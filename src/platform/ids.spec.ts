import { IdSource, newId, randomHex } from './ids.js';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids are UUIDs of version 7 with the time in front', () => {
  const id = new IdSource(() => 0x0199_1234_5678, randomHex).next();
  expect(id).toMatch(V7);
  expect(id.startsWith('01991234-5678-7')).toBe(true);
});

test('ids rise strictly: within a millisecond, over its 4096, and when the clock steps back', () => {
  let now = 1_000_000;
  const source = new IdSource(() => now, randomHex);
  const made: string[] = [];
  for (let i = 0; i < 10_000; i++) made.push(source.next());
  now -= 500;
  for (let i = 0; i < 100; i++) made.push(source.next());
  now += 60_000;
  made.push(source.next());
  expect(made.every((id) => V7.test(id))).toBe(true);
  expect(made).toEqual([...new Set(made)].sort());
});

test('random digits do not repeat over the edge of the pool', () => {
  const parts = Array.from({ length: 2000 }, () => randomHex(16));
  expect(new Set(parts).size).toBe(2000);
  expect(parts.every((p) => /^[0-9a-f]{16}$/.test(p))).toBe(true);
  expect(newId()).not.toBe(newId());
});
