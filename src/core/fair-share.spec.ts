import { readFileSync } from 'node:fs';
import { streamOf, Turns, TURNS_PER_PRIORITY } from './fair-share.js';

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
  for (let i = 0; i < 10_000; i++) turns.note(`lane ${i}`, 'one', 1);
  expect(turns.last('lane 9999', 'one')).toBe(1);
  expect(turns.last('a', 'caller 2999')).toBe(0);
});

test.each(['admit', 'make_due', 'move'])('%s.sql gives a point of priority as much', (name) => {
  const text = readFileSync(new URL(`../scheduler/sql/${name}.sql`, import.meta.url), 'utf8');
  const factors = [...text.matchAll(/(\d+) \* (?:\w+\.)?priority/g)].map((m) => Number(m[1]));
  expect(factors.length).toBeGreaterThanOrEqual(2);
  expect(new Set(factors)).toEqual(new Set([TURNS_PER_PRIORITY]));
});

test('what is new, what was due and what was moved take turns apart from one another, and in the order they come', () => {
  const turns = new Turns();
  const [one, two] = [
    { lane: 'a', priority: 0, caller: 'one' },
    { lane: 'a', priority: 0, caller: 'two' },
  ];
  turns.note('a', streamOf(one), 5);
  turns.note('a', streamOf(one, 'due'), 9);
  turns.note('a', streamOf(one, 'due'), 7);
  const seekers = [one, two, { ...one, priority: 1 }, one, { ...one, lane: 'b' }];
  expect(turns.columnsOf(seekers)).toEqual([
    [5, 0, 0, 5, 0],
    [1, 1, 1, 2, 1],
  ]);
  expect(turns.columnsOf([one, one], 'due')).toEqual([
    [9, 9],
    [1, 2],
  ]);
  expect(turns.columnsOf([one], 'moved')).toEqual([[0], [1]]);
  expect(turns.in('a')).toEqual([
    [streamOf(one), streamOf(one, 'due')],
    [5, 9],
  ]);
});
