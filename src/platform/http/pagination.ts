import type { z } from 'zod';
import { ReachError } from '../../core/errors.js';

/** An opaque cursor out of the sort key of a page's last row. */
export function encodeCursor(key: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

/**
 * The sort key in a cursor.
 *
 * @throws ReachError VALIDATION_FAILED at `/cursor` for anything that `encodeCursor` did not make.
 */
export function decodeCursor<T extends z.ZodType>(cursor: string, key: T): z.output<T> {
  const parsed = key.safeParse(decode(cursor));
  if (parsed.success) return parsed.data;
  const detail = 'is not a cursor of this list; take next_cursor of the page before as it is';
  throw new ReachError('VALIDATION_FAILED', `/cursor: ${detail}`, {
    errors: [{ pointer: '/cursor', detail: `query parameter cursor: ${detail}` }],
  });
}

function decode(cursor: string): unknown {
  try {
    const text = Buffer.from(cursor, 'base64url').toString('utf8');
    return text.includes('\\u0000') ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A page out of up to `limit + 1` rows: the extra row tells that there are more.
 *
 * @param key the sort key of a row, as `decodeCursor` will get it back.
 */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  item: (row: Row) => Item,
  key: (row: Row) => readonly unknown[],
): { items: Item[]; next_cursor?: string } {
  const items = rows.slice(0, limit).map(item);
  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) return { items };
  return { items, next_cursor: encodeCursor(key(last)) };
}
