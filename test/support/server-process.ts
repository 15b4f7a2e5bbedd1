import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createServer } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A server of a package, in a folder of its own. It dies with this process: a shell stands between the two and
 * kills it as soon as the pipe to us is closed, however we went.
 */
export class ServerProcess {
  private pid = 0;
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly command: readonly string[],
    private readonly ready: string,
  ) {}

  /**
   * @param prepare fills the folder and says how the server is started in it
   * @param ready a line of its output that says that it takes connections
   */
  static async start(
    prepare: (directory: string, port: number) => [string, ...string[]],
    ready: string,
  ): Promise<ServerProcess> {
    const directory = mkdtempSync(join(tmpdir(), 'reach-server-'));
    const port = await freePort();
    const server = new ServerProcess(port, directory, prepare(directory, port), ready);
    await server.launch();
    return server;
  }

  /** Ends the server at once, as a crash does. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'close');
    child.stdin?.end();
    await ended;
  }

  /** Starts it again after `kill`, on the same port and with what it holds. */
  async startAgain(): Promise<void> {
    await this.launch();
  }

  /** Freezes the server: connections stay open and nothing answers from the moment that this returns. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
    while (!isStopped(this.pid));
  }

  /** Ends `pause`. */
  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /** Ends the server and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async launch(): Promise<void> {
    const script = '"$@" </dev/null 2>&1 & echo "pid $!"; cat >/dev/null; kill -KILL $!; wait';
    const child = spawn('sh', ['-c', script, 'sh', ...this.command], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    const log: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      log.push(line);
      const pid = /^pid (\d+)$/.exec(line)?.[1];
      if (pid) this.pid = Number(pid);
      if (line.includes(this.ready)) break;
      if (/\[ERROR\] Aborting|\[FTL\]|not found/.test(line)) break;
    }
    child.stdout.resume();
    if (log.at(-1)?.includes(this.ready)) return;
    await this.stop();
    throw new Error(`a server did not start:\n${log.join('\n')}`);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Whether every thread of the process has stopped: the signal takes its time on a busy machine. */
function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  });
}
