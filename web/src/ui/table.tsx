import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useText } from '../i18n/use-text.js';

const ROW_PX = 32;

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  /** A track of a CSS grid. */
  readonly width: string;
  readonly align?: 'end';
  readonly cell: (row: Row) => ReactNode;
  /** What rows are ordered by, where the column can be sorted. */
  readonly by?: (row: Row) => string | number;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Called when the end of the rows comes near. */
  readonly onEnd?: () => void;
}

/**
 * A table of any length: only the rows in sight are in the document. Rows have one height; what does not fit is cut
 * and shown in full by the title. Arrow keys go from link to link.
 */
export function Table<Row>({ label, columns, rows, keyOf, onEnd }: TableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const { sorted, sort, toggle } = useSorted(columns, rows);
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: (index) => keyOf(sorted[index] as Row),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= sorted.length - 5 && last >= 0) onEnd?.();
  }, [last, sorted.length, onEnd]);
  const template = { gridTemplateColumns: columns.map((c) => c.width).join(' ') };
  return (
    <div className="table" ref={scroller} tabIndex={0} role="region" aria-label={label} onKeyDown={byArrow}>
      <div role="table" aria-label={label} aria-rowcount={sorted.length + 1}>
        <div role="rowgroup" className="table-head">
          <div role="row" className="row" style={template} aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} toggle={toggle} />
            ))}
          </div>
        </div>
        <div role="rowgroup" className="table-space" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => (
            <div
              key={item.key}
              role="row"
              className="row"
              aria-rowindex={item.index + 2}
              style={{ ...template, transform: `translateY(${item.start}px)` }}
            >
              {columns.map((column) => (
                <div key={column.id} role="cell" className={column.align === 'end' ? 'cell end' : 'cell'}>
                  {column.cell(sorted[item.index] as Row)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

interface Sort {
  readonly id: string;
  readonly down: boolean;
}

function useSorted<Row>(columns: readonly Column<Row>[], rows: readonly Row[]) {
  const [sort, setSort] = useState<Sort>();
  const by = columns.find((c) => c.id === sort?.id)?.by;
  const sorted = by === undefined ? rows : [...rows].sort((a, b) => compare(by(a), by(b)));
  if (by !== undefined && sort?.down === true) (sorted as Row[]).reverse();
  const toggle = (id: string) =>
    setSort((now) => (now?.id !== id ? { id, down: false } : now.down ? undefined : { id, down: true }));
  return { sorted, sort, toggle };
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function Head<Row>(props: { column: Column<Row>; sort: Sort | undefined; toggle: (id: string) => void }) {
  const { column, sort, toggle } = props;
  const t = useText();
  const mine = sort?.id === column.id ? sort : undefined;
  const className = column.align === 'end' ? 'cell end' : 'cell';
  if (column.by === undefined)
    return (
      <div role="columnheader" className={className}>
        {column.head}
      </div>
    );
  return (
    <div
      role="columnheader"
      className={className}
      aria-sort={mine === undefined ? 'none' : mine.down ? 'descending' : 'ascending'}
    >
      <button
        type="button"
        className="plain"
        title={t('table.sort', { column: column.head })}
        onClick={() => toggle(column.id)}
      >
        {column.head}
        <span aria-hidden="true">{mine === undefined ? '' : mine.down ? ' ↓' : ' ↑'}</span>
      </button>
    </div>
  );
}

/** Down and up go to the link of the next row and of the one before. */
function byArrow(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row-link]')];
  const byTop = links.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const at = byTop.indexOf(document.activeElement as HTMLElement);
  const to = byTop[event.key === 'ArrowDown' ? at + 1 : at - 1];
  if (to === undefined) return;
  event.preventDefault();
  to.focus();
  to.scrollIntoView({ block: 'nearest' });
}
