import { spawn, type ChildProcess } from 'node:child_process';
import { type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { EmbeddedPostgresError, faultFromLog } from './errors.js';
import { type Log } from './log.js';
import { type RunAs } from './run-as.js';
import { serverCommand } from './server-command.js';
import { Watchdog } from './watchdog.js';

export interface LaunchOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly port: number;
  readonly runAs: RunAs;
  /** Server settings (`-c name=value`). */
  readonly settings: Readonly<Record<string, string | number>>;
  readonly logger: Log;
  /** Longest silence of a starting server; a long crash recovery reports every 10 s. */
  readonly startSilenceMs: number;
  /** A directory to remove when the server is ended by the watchdog. */
  readonly throwAway?: string;
}

const READY = 'database system is ready to accept connections';
const LOG_TAIL_LINES = 30;
const FAST_STOP_MS = 15_000;
const IMMEDIATE_STOP_MS = 5_000;

/** One running server process, our child. */
export class Postmaster {
  /** Settles when the process is gone, for whatever reason. */
  readonly exited: Promise<string>;
  private gone = false;

  private constructor(
    private readonly child: ChildProcess,
    watchdog: Watchdog | null,
  ) {
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.gone = true;
        watchdog?.dismiss();
        resolve(signal ?? `code ${code}`);
      });
    });
  }

  /** The pid of the server; it has one, or launch would have failed. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /**
   * Starts the server and waits until it accepts connections.
   * @throws EmbeddedPostgresError with the fault read from the server's own messages
   */
  static launch(options: LaunchOptions): Promise<Postmaster> {
    const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const {
      file,
      args,
      options: spawnOptions,
    } = serverCommand(
      options.binary,
      ['-D', options.dataDir, '-p', String(options.port), ...settings],
      options.runAs,
    );
    const child = spawn(file, args, {
      ...spawnOptions,
      stdio: ['ignore', 'ignore', 'pipe'],
      // A Ctrl-C at the terminal is for us; the server must outlive our own draining.
      detached: true,
    });
    const { pid } = child;
    const watchdog = pid === undefined ? null : Watchdog.start(pid, options.dataDir, options.throwAway);
    return ready(new Postmaster(child, watchdog), child, options);
  }

  /** Ends the server: sessions are cut, a checkpoint is written; after 15 s by force. Never throws. */
  async stop(): Promise<void> {
    this.child.ref();
    for (const [signal, limitMs] of [
      ['SIGINT', FAST_STOP_MS],
      ['SIGQUIT', IMMEDIATE_STOP_MS],
      ['SIGKILL', IMMEDIATE_STOP_MS],
    ] as const) {
      if (this.gone) return;
      this.child.kill(signal);
      if (await this.exitsWithin(limitMs)) return;
    }
  }

  private exitsWithin(limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limitMs);
      void this.exited.then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}

function ready(server: Postmaster, child: ChildProcess, options: LaunchOptions): Promise<Postmaster> {
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    let started = false;
    const silence = setTimeout(() => {
      void server.stop();
      fail(`was silent for ${options.startSilenceMs} ms while starting`);
    }, options.startSilenceMs);
    const fail = (what: string): void => {
      clearTimeout(silence);
      if (!started) reject(startError(what, tail.join('\n'), options));
    };
    const stderr = child.stderr as unknown as Socket;
    createInterface({ input: stderr }).on('line', (line) => {
      options.logger[/(FATAL|PANIC): /.test(line) ? 'warn' : 'debug']({ component: 'postgres' }, line);
      if (started) return;
      tail.push(line);
      if (tail.length > LOG_TAIL_LINES) tail.shift();
      silence.refresh();
      if (!line.includes(READY)) return;
      started = true;
      clearTimeout(silence);
      // A server at rest keeps no event loop alive; whoever uses it does.
      child.unref();
      stderr.unref();
      resolve(server);
    });
    child.once('error', (error) => fail(`could not be run: ${error.message}`));
    // 'close', not 'exit': only then has every line been read.
    child.once('close', (code, signal) => fail(`ended at once (${signal ?? `code ${code}`})`));
  });
}

function startError(what: string, log: string, options: LaunchOptions): EmbeddedPostgresError {
  const fault = faultFromLog(log);
  const where = `The embedded Postgres in ${options.dataDir}`;
  const advice: Partial<Record<typeof fault, string>> = {
    disk_full: 'The disk is full: free some space and start again.',
    not_writable: 'The directory cannot be used by the account the server runs as; see REACH_DATA_DIR.',
    version_mismatch: 'It was written by another major version of Postgres.',
    damaged: 'The data is damaged; restore a backup, or move the directory away to begin anew.',
  };
  return new EmbeddedPostgresError(
    fault,
    [`${where} ${what}.`, advice[fault], log].filter(Boolean).join('\n'),
  );
}
