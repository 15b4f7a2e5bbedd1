import Table from 'cli-table3';
import type { Paint } from './colors.js';

const BLANK = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};
const GAP = 2;
const NARROWEST = 8;
const ANSI = /\u001b\[\d+m/g;

const widthOf = (cell: string): number => [...cell.replace(ANSI, '')].length;

/** Cutting an id makes it useless. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A table without lines. Columns are as wide as their cells; where `width` is given and passed, the widest
 * columns are cut, those of ids never.
 */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: { width?: number | undefined; paint: Paint },
): string {
  const natural = head.map((title, i) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i] ?? ''))),
  );
  const table = new Table({
    head: head.map((title) => options.paint('dim', title)),
    chars: BLANK,
    colWidths: fit(
      natural,
      options.width,
      head.map((_, i) => rows.every((row) => UUID.test(row[i] ?? ''))),
    ),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Column widths whose sum with gaps is at most `width`, as far as columns stay readable. */
export function fit(
  natural: readonly number[],
  width: number | undefined,
  rigid: readonly boolean[] = [],
): number[] {
  const widths = [...natural];
  if (width === undefined) return widths;
  let excess = widths.reduce((sum, w) => sum + w, 0) + GAP * (widths.length - 1) - width;
  while (excess > 0) {
    const most = Math.max(...widths.filter((_, i) => !rigid[i]));
    const widest = widths.findIndex((w, i) => w === most && !rigid[i]);
    const current = widths[widest] ?? 0;
    if (current <= NARROWEST) break;
    widths[widest] = current - 1;
    excess -= 1;
  }
  return widths;
}
