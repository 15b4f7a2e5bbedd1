import { SingleBar } from 'cli-progress';

/** A bar on standard error for a person who watches; nothing at all otherwise. */
export class ProgressBar {
  private readonly bar: SingleBar | undefined;
  private total = 0;
  private started = false;

  constructor(label: string, enabled: boolean) {
    if (!enabled || !process.stderr.isTTY) return;
    this.bar = new SingleBar({
      format: `${label} [{bar}] {value}/{total}  {duration_formatted}`,
      barCompleteChar: '=',
      barIncompleteChar: ' ',
      hideCursor: true,
      clearOnComplete: true,
      stream: process.stderr,
    });
  }

  /** There are `count` more to come. */
  grow(count: number): void {
    this.total += count;
    if (!this.bar) return;
    if (this.started) this.bar.setTotal(this.total);
    else this.bar.start(this.total, 0);
    this.started = true;
  }

  /** `count` more are done. */
  add(count: number): void {
    this.bar?.increment(count);
  }

  stop(): void {
    this.bar?.stop();
  }
}
