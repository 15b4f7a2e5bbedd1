import { clock, duration, percent, preview, shortId, since, size } from './format.js';

test.each([
  [0, '0 ms'],
  [840.4, '840 ms'],
  [999.6, '1.0 s'],
  [12_449, '12.4 s'],
  [59_960, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [18_120_000, '5 h 2 min'],
  [273_600_000, '3 d 4 h'],
  [-1500, '-1.5 s'],
  [Number.NaN, '-'],
])('a duration of %d ms reads %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('what lies ahead by a difference of clocks is now', () => {
  expect(since('2026-11-30T10:00:05Z', Date.parse('2026-11-30T10:00:00Z'))).toBe('0 ms');
});

test('a time has all its digits; what is none is no time', () => {
  expect(clock('2026-11-30T10:00:05.007Z')).toMatch(/^\d\d:\d\d:05\.007$/);
  expect(clock('soon')).toBe('-');
});

test('shares, sizes and ids', () => {
  expect([0, 0.9234, 1].map(percent)).toEqual(['0 %', '92.3 %', '100 %']);
  expect([812, 4096, 1_258_291].map(size)).toEqual(['812 B', '4.0 KiB', '1.2 MiB']);
  expect(shortId('writer-1')).toBe('writer-1');
  expect(shortId('01a229bb-e66c-7011-8831-4f8212611e03')).toBe('…4f8212611e03');
});

describe('a preview', () => {
  test('of a small value is the whole', () => {
    expect(preview({ a: 1 })).toEqual({ text: '{\n  "a": 1\n}', bytes: 7, cut: false });
  });

  test('ends at 4 KiB, and breaks no character', () => {
    const { text, bytes, cut } = preview('智'.repeat(3000));
    expect(cut).toBe(true);
    expect(bytes).toBe(9002);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(4096);
    expect(text).toMatch(/^"智+$/);
  });

  test('of nothing is nothing', () => {
    expect(preview(undefined)).toEqual({ text: '', bytes: 0, cut: false });
  });
});
