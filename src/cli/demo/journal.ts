import type { Output } from '../output/output.js';

const NAME_WIDTH = 10;

/** The lines of the demo, each with the seconds since its start. */
export class Journal {
  private readonly startedAt = performance.now();

  constructor(readonly out: Output) {}

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  say(what: string, text: string): void {
    this.write(this.out.paint('cyan', what.padEnd(NAME_WIDTH)), text);
  }

  /** Something breaks, on purpose. */
  accident(text: string): void {
    this.write(this.out.paint('red', 'accident'.padEnd(NAME_WIDTH)), text);
  }

  private write(label: string, text: string): void {
    const seconds = (this.elapsedMs / 1000).toFixed(1).padStart(5);
    this.out.line(`${this.out.paint('dim', `${seconds} s`)}  ${label} ${text}`);
  }
}
