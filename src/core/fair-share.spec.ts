import { readFileSync } from 'node:fs';
import { Turns, TURNS_PER_PRIORITY } from './fair-share.js';

test('remembers the last turn of each caller in each lane', () => {
  const turns = new Turns();
  turns.note('a', 'one', 5);
  turns.note('a', 'two', 7);
  turns.note('b', 'one', 9);
  expect([
    turns.last('a', 'one'),
    turns.last('a', 'two'),
    turns.last('b', 'one'),
    turns.last('b', 'two'),
  ]).toEqual([5, 7, 9, 0]);
});

test('forgets rather than to grow without end', () => {
  const turns = new Turns();
  for (let i = 0; i < 3000; i++) turns.note('a', `caller ${i}`, i);
  expect(turns.last('a', 'caller 2999')).toBe(2999);
  expect(turns.last('a', 'caller 1')).toBe(0);
});

test.each(['admit', 'make_due'])('%s.sql gives a point of priority as much', (name) => {
  const text = readFileSync(new URL(`../scheduler/sql/${name}.sql`, import.meta.url), 'utf8');
  const factors = [...text.matchAll(/(\d+) \* (?:\w+\.)?priority/g)].map((m) => Number(m[1]));
  expect(factors.length).toBeGreaterThanOrEqual(2);
  expect(new Set(factors)).toEqual(new Set([TURNS_PER_PRIORITY]));
});
