import { painter, paintState, wantsColor, type Paint } from './colors.js';
import { printable } from './text.js';
import { renderTable } from './table.js';

/** Where a command's answer goes: tables and sentences for people, JSON for scripts. */
export class Output {
  readonly paint: Paint;
  private frame: string[] | undefined;

  constructor(
    readonly json: boolean,
    private readonly stream: NodeJS.WriteStream = process.stdout,
  ) {
    this.paint = painter(!json && wantsColor(stream));
  }

  /** A person is watching. */
  get interactive(): boolean {
    return this.stream.isTTY && !this.json;
  }

  /** The state of a task or agent in its colour. */
  state(state: string): string {
    return paintState(this.paint, state);
  }

  /** What `show` prints, as one text and unprinted: to be put on the screen at once. */
  async framed(show: () => Promise<void>): Promise<string> {
    const lines: string[] = [];
    this.frame = lines;
    try {
      await show();
    } finally {
      this.frame = undefined;
    }
    return lines.join('');
  }

  /** Puts a text on the cleared screen. */
  screen(text: string): void {
    this.stream.write(`\u001b[H\u001b[2J${text}`);
  }

  line(text = ''): void {
    if (this.frame === undefined) this.stream.write(`${text}\n`);
    else this.frame.push(`${text}\n`);
  }

  /** One JSON document; on one line when `compact`. */
  document(value: unknown, compact = false): void {
    this.line(JSON.stringify(value, null, compact ? undefined : 2));
  }

  /** A table, or `empty` when there are no rows. Cells may be painted, but hold no text of others unprinted. */
  table(head: readonly string[], rows: readonly (readonly string[])[], empty: string): void {
    if (rows.length === 0) return this.line(empty);
    const width = this.stream.isTTY ? this.stream.columns : undefined;
    this.line(renderTable(head, rows, { width, paint: this.paint }));
  }

  /** Lines of "name  value"; undefined values are left out. */
  facts(facts: Record<string, string | undefined>): void {
    const present = Object.entries(facts).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const width = Math.max(...present.map(([name]) => name.length));
    for (const [name, value] of present) this.line(`${this.paint('dim', name.padEnd(width))}  ${value}`);
  }

  /** Says something beside the answer, on standard error. */
  note(text: string): void {
    process.stderr.write(`${printable(text)}\n`);
  }
}
