import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';
import { Api } from './api.js';
import { createTestDatabase, newDataDir } from './postgres.js';
import { describeWithRedisServer, RedisServer } from './redis.js';
import { until } from './until.js';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

/** What every centre of a test is set to: short pauses, frequent sweeps. */
const QUICK: Readonly<Record<string, string>> = {
  REACH_SWEEP_INTERVAL_MS: '200',
  REACH_RECONCILE_INTERVAL_MS: '1000',
  REACH_RETRY_BASE_MS: '50',
  REACH_REDISPATCH_JITTER_MS: '50',
  REACH_LOG_FORMAT: 'json',
};

/** The two ways to run: one process with everything in it, or two that share a Redis and a Postgres. */
export const MODES = ['embedded', 'distributed'] as const;
export type Mode = (typeof MODES)[number];

/** The same cases in both modes; the distributed ones where there is a `redis-server`. */
export function inBothModes(name: string, cases: (mode: Mode) => void): void {
  describe(`${name}, embedded`, () => cases('embedded'));
  describeWithRedisServer(`${name}, distributed`, () => cases('distributed'));
}

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

  constructor(private readonly env: Readonly<Record<string, string>>) {}

  /** Starts it and waits until it listens; a restart takes the port from before. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env['PATH'], ...this.env, REACH_HTTP_PORT: this.port },
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

  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error('the dispatcher does not run');
    return pid;
  }

  /** Sends a signal without waiting for what it does. */
  signal(signal: NodeJS.Signals): void {
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

export interface CentreOptions {
  /** Settings beside the quick ones. */
  env?: Record<string, string>;
  /** How many dispatchers, in distributed mode; 2 unless set. */
  dispatchers?: number;
  /** A Postgres of the caller's, in distributed mode. */
  databaseUrl?: string;
}

/** A whole centre in one of the modes, of real processes over real sockets. */
export class Centre {
  private readonly cleanUps: (() => Promise<unknown>)[] = [];
  readonly dispatchers: Dispatcher[] = [];
  /** The Redis of a distributed centre. */
  redis: RedisServer | undefined;

  private constructor(readonly mode: Mode) {}

  /** Starts what the mode needs and waits until every dispatcher listens. */
  static async start(mode: Mode, options: CentreOptions = {}): Promise<Centre> {
    const centre = new Centre(mode);
    try {
      if (mode === 'embedded') await centre.startEmbedded(options);
      else await centre.startDistributed(options);
      return centre;
    } catch (error) {
      await centre.stop();
      throw error;
    }
  }

  private async startEmbedded(options: CentreOptions): Promise<void> {
    const dataDir = await newDataDir();
    this.cleanUps.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
    await this.add({ ...QUICK, REACH_DATA_DIR: dataDir, ...options.env });
  }

  private async startDistributed(options: CentreOptions): Promise<void> {
    const redis = await RedisServer.start();
    this.redis = redis;
    this.cleanUps.push(() => redis.stop());
    let databaseUrl = options.databaseUrl;
    if (databaseUrl === undefined) {
      const database = await createTestDatabase();
      this.cleanUps.push(() => database.drop());
      databaseUrl = database.url;
    }
    const dataDir = await mkdtemp(join(tmpdir(), 'reach-centre-'));
    this.cleanUps.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
    const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, REACH_DATA_DIR: dataDir };
    await Promise.all(
      Array.from({ length: options.dispatchers ?? 2 }, (_, i) =>
        this.add({ ...QUICK, ...env, REACH_REPLICA_ID: `dispatcher-${i}`, ...options.env }),
      ),
    );
  }

  private async add(env: Record<string, string>): Promise<void> {
    const dispatcher = new Dispatcher(env);
    this.dispatchers.push(dispatcher);
    await dispatcher.start();
  }

  /** The dispatchers' addresses. */
  get urls(): string[] {
    return this.dispatchers.map((d) => d.url);
  }

  /** Dispatcher number `i`, counted around: in embedded mode all numbers are the one there is. */
  dispatcher(i: number): Dispatcher {
    return this.dispatchers[i % this.dispatchers.length] as Dispatcher;
  }

  /**
   * Calls in a namespace of their own, so that cases of one centre do not see each other. They go to the
   * dispatchers in turn: nothing may depend on which one is asked.
   */
  api(namespace = `ns-${randomBytes(5).toString('hex')}`): Api {
    return new Api(() => this.urls, namespace);
  }

  /** Ends everything and removes it. */
  async stop(): Promise<void> {
    await Promise.all(this.dispatchers.map((d) => d.terminate()));
    for (const cleanUp of this.cleanUps.splice(0).reverse()) await cleanUp();
  }

  /** The logs of all, for messages. */
  tail(): string {
    return this.dispatchers.map((d, i) => `--- dispatcher ${i}\n${d.tail()}`).join('\n');
  }
}
