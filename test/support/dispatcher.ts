import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from './until.js';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

/** A line of a dispatcher's log. */
export interface LogLine {
  level?: string | number;
  msg?: string;
  event?: string;
  [key: string]: unknown;
}

/** One dispatcher: the built server as a process of its own, which dies with this one. */
export class Dispatcher {
  private child: ChildProcess | undefined;
  private guard: ChildProcess | undefined;
  private port = '0';
  private heard: (() => void)[] = [];
  /** Everything it logged, over all its lives. */
  readonly log: LogLine[] = [];
  url = '';

  /** @param main the program; the built server unless set. @param nodeArgs options of Node for every life */
  constructor(
    private readonly env: Readonly<Record<string, string>>,
    private readonly main = MAIN,
    private readonly nodeArgs: readonly string[] = [],
  ) {}

  /**
   * Starts it and waits until it listens; a restart takes the port from before.
   * @param env settings of this life alone
   * @param nodeArgs options of Node for this life
   */
  async start(env: Readonly<Record<string, string>> = {}, nodeArgs: readonly string[] = []): Promise<void> {
    const child = spawn(process.execPath, [...this.nodeArgs, ...nodeArgs, this.main], {
      env: { PATH: process.env['PATH'], ...this.env, ...env, REACH_HTTP_PORT: this.port },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.guard = guardOf(child);
    const listening = new Promise<string>((resolve, reject) => {
      const take = (text: string) => {
        const line = parseLine(text);
        this.log.push(line);
        for (const wake of this.heard.splice(0)) wake();
        if (line.msg === 'listening' && typeof line['url'] === 'string') resolve(line['url']);
      };
      createInterface(child.stdout).on('line', take);
      createInterface(child.stderr).on('line', take);
      child.once('exit', (code, signal) => {
        reject(new Error(`the dispatcher ended (${code ?? signal}) before it listened\n${this.tail()}`));
      });
    });
    listening.catch(() => undefined);
    this.url = await listening;
    this.port = new URL(this.url).port;
  }

  /** undefined: it does not run */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Sends a signal without waiting for what it does. */
  signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) throw new Error('the dispatcher does not run');
    process.kill(this.pid, signal);
  }

  /** Ends it in the orderly way; resolves with its exit code. */
  async terminate(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  /** Ends it as a crash does. */
  async kill9(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Resolves when it is gone by itself; false: it still runs after `withinMs`. */
  async dies(withinMs: number): Promise<boolean> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return true;
    return Promise.race([
      once(child, 'close').then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), withinMs).unref()),
    ]);
  }

  /** Resolves with the first line, from `after` on, that `matches`. */
  async logged(what: string, matches: (line: LogLine) => boolean, after = 0): Promise<LogLine> {
    let found: LogLine | undefined;
    await until(`log line: ${what}`, () => (found = this.log.slice(after).find(matches)) !== undefined);
    return found as LogLine;
  }

  /** The last lines of its log, for messages. */
  tail(lines = 30): string {
    return this.log
      .slice(-lines)
      .map((line) => JSON.stringify(line))
      .join('\n');
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.child;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = once(child, 'close') as Promise<[number | null]>;
    // A frozen process takes no other signal than SIGKILL.
    child.kill('SIGCONT');
    child.kill(signal);
    const [code] = await ended;
    return code;
  }
}

/** A shell that holds the other end of a pipe to us, and kills `child` when we are gone, however we went. */
export function guardOf(child: ChildProcess): ChildProcess {
  const guard = spawn('sh', ['-c', 'cat >/dev/null; kill -KILL "$0" 2>/dev/null', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.once('exit', () => guard.kill('SIGKILL'));
  guard.unref();
  return guard;
}

function parseLine(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { msg: text };
  }
}
