import fc from 'fast-check';
import { z } from 'zod';
import { ReachError } from '../../core/errors.js';
import { decodeCursor, encodeCursor, toPage } from './pagination.js';

const key = z.tuple([z.iso.datetime(), z.string()]);

describe('cursor', () => {
  test('comes back as it went in, whatever the id', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((id) => !id.includes('\0')),
        (id) => {
          const cursor = encodeCursor(['2026-01-02T03:04:05Z', id]);
          expect(cursor).toMatch(/^[\w-]+$/);
          expect(decodeCursor(cursor, key)).toEqual(['2026-01-02T03:04:05Z', id]);
        },
      ),
    );
  });

  test.each([
    ['text', 'hello'],
    ['JSON of another list', encodeCursor([1, 2, 3])],
    ['a bad time', encodeCursor(['yesterday', 'a'])],
    ['a NUL', encodeCursor(['2026-01-02T03:04:05Z', 'a\0'])],
    ['nothing', ''],
  ])('%s is refused at /cursor', (_what, cursor) => {
    expect(() => decodeCursor(cursor, key)).toThrow(ReachError);
    try {
      decodeCursor(cursor, key);
    } catch (error) {
      expect((error as ReachError).extra.errors?.[0]?.pointer).toBe('/cursor');
    }
  });
});

describe('toPage', () => {
  const page = (rows: number[], limit: number) =>
    toPage(
      rows,
      limit,
      (n) => ({ n }),
      (n) => [n],
    );

  test('the last page has no cursor, be it full or not', () => {
    expect(page([1, 2], 3)).toEqual({ items: [{ n: 1 }, { n: 2 }] });
    expect(page([1, 2, 3], 3)).not.toHaveProperty('next_cursor');
    expect(page([], 3)).toEqual({ items: [] });
  });

  test('an extra row gives a cursor that stands at the last row shown', () => {
    const { items, next_cursor } = page([1, 2, 3, 4], 3);
    expect(items).toHaveLength(3);
    expect(decodeCursor(next_cursor ?? '', z.tuple([z.number()]))).toEqual([3]);
  });
});
