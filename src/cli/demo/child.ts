import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

export interface ChildSpec {
  name: string;
  script: string;
  args?: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
}

const LOG_TAIL_LINES = 15;
const FOLLOW_PARENT = new URL('./follow-parent.js', import.meta.url).href;

/** A process of the demo: its output goes to a file, its end is awaited. */
export class Child {
  readonly ended: Promise<void>;
  private readonly process: ChildProcess;
  private readonly tail: string[] = [];
  private readonly lineListeners = new Set<(line: string) => void>();
  private hasEnded = false;

  constructor(readonly spec: ChildSpec) {
    const log = createWriteStream(spec.logFile, { flags: 'a' });
    this.process = spawn(process.execPath, ['--import', FOLLOW_PARENT, spec.script, ...(spec.args ?? [])], {
      env: spec.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        log.write(`${line}\n`);
        this.tail.push(line);
        if (this.tail.length > LOG_TAIL_LINES) this.tail.shift();
        for (const listener of this.lineListeners) listener(line);
      });
    }
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.hasEnded = true;
        log.end();
        resolve();
      };
      this.process.once('close', end);
      this.process.once('error', end);
    });
  }

  get running(): boolean {
    return !this.hasEnded;
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /**
   * The first value that `read` finds in a line of output.
   * @throws Error with the end of the log when the process ends or `timeoutMs` passes before
   */
  async firstLine<T>(read: (line: string) => T | undefined, timeoutMs: number): Promise<T> {
    let listener: (line: string) => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        const give = (line: string) => {
          const value = read(line);
          if (value !== undefined) resolve(value);
        };
        listener = give;
        this.lineListeners.add(listener);
        this.tail.forEach(give);
        const fail = (what: string) => reject(new Error(`${this.spec.name} ${what}:\n${this.lastLines()}`));
        timer = setTimeout(() => fail(`was not ready within ${timeoutMs} ms`), timeoutMs);
        void this.ended.then(() => fail('ended at its start'));
      });
    } finally {
      clearTimeout(timer);
      this.lineListeners.delete(listener);
    }
  }

  kill(signal: NodeJS.Signals): void {
    if (this.running) this.process.kill(signal);
  }

  /** Asks it to end, and ends it by force after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.kill('SIGTERM');
    const timer = setTimeout(() => this.kill('SIGKILL'), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  private lastLines(): string {
    return this.tail.map((line) => `  ${line.slice(0, 400)}`).join('\n');
  }
}
