import { closeSync, fdatasync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Milliseconds of the machine's monotonic clock: every process of a run reads the same one, and neither a
 * wrong wall clock nor a step of it is seen here.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

const SYNC_EVERY_MS = 200;

/**
 * A book that only its owner writes: one JSON object a line. A line is with the kernel before `write` returns,
 * so a SIGKILL of the owner loses nothing; it is on the disk a moment later.
 */
export class Ledger {
  private readonly fd: number;
  private readonly timer: NodeJS.Timeout;
  private dirty = false;

  constructor(path: string) {
    this.fd = openSync(path, 'a');
    this.timer = setInterval(() => this.sync(), SYNC_EVERY_MS);
    this.timer.unref();
  }

  /** Adds an event, with the time. */
  write(event: { event: string; [key: string]: unknown }): void {
    writeSync(this.fd, `${JSON.stringify({ at: nowMs(), ...event })}\n`);
    this.dirty = true;
  }

  close(): void {
    clearInterval(this.timer);
    closeSync(this.fd);
  }

  private sync(): void {
    if (!this.dirty) return;
    this.dirty = false;
    fdatasync(this.fd, () => undefined);
  }
}

/** Every line of the books whose name begins with `prefix`, by time. A last line that was cut off by a kill is left out. */
export function readLedgers<T extends { at: number }>(directory: string, prefix: string): T[] {
  const lines: T[] = [];
  for (const file of readdirSync(directory).sort()) {
    if (!file.startsWith(prefix) || !file.endsWith('.jsonl')) continue;
    for (const line of readFileSync(join(directory, file), 'utf8').split('\n')) {
      if (!line.endsWith('}')) continue;
      lines.push(JSON.parse(line) as T);
    }
  }
  return lines.sort((a, b) => a.at - b.at);
}
