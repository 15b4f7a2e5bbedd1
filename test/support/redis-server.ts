import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * A real redis-server on a free port, without persistence. It dies with this process: a shell stands between
 * the two and kills it as soon as the pipe to us is closed, however we went.
 */
export class RedisServer {
  private process: ChildProcess | undefined;
  private pid = 0;
  private readonly directory = mkdtempSync(join(tmpdir(), 'reach-redis-'));

  private constructor(
    private readonly port: number,
    private readonly cluster: boolean,
    private readonly password: string | undefined,
  ) {}

  /**
   * Starts a server and waits until it takes connections; `cluster`: one node that holds all slots; `password`: it
   * asks for one, which `url` does not tell.
   */
  static async start(options: { cluster?: boolean; password?: string } = {}): Promise<RedisServer> {
    for (let attempt = 1; ; attempt++) {
      const server = new RedisServer(await freePort(), options.cluster ?? false, options.password);
      try {
        await server.launch();
        return server;
      } catch (error) {
        // Somebody else may have taken the port in between.
        await server.stop();
        if (attempt === 3) throw error;
      }
    }
  }

  get url(): string {
    return `${this.cluster ? 'redis-cluster' : 'redis'}://127.0.0.1:${this.port}`;
  }

  /** Ends the server at once, as a crash does; the port stays reserved for `restartEmpty`. */
  async kill(): Promise<void> {
    const running = this.process;
    this.process = undefined;
    if (!running || running.exitCode !== null) return;
    const ended = once(running, 'close');
    running.stdin?.end();
    await ended;
  }

  /** Starts it again on the same port, with nothing in it; kills it first if it runs. */
  async restartEmpty(): Promise<void> {
    await this.kill();
    await this.launch();
  }

  /** Has the server write down what it holds, for `restartSaved`. */
  save(): void {
    spawnSync('redis-cli', ['-p', String(this.port), 'SAVE']);
  }

  /** Starts it again as it was at the last `save`: what a replica has that did not hear the last seconds. */
  async restartSaved(): Promise<void> {
    await this.kill();
    await this.launch();
    rmSync(join(this.directory, 'dump.rdb'), { force: true });
  }

  /** Freezes the server: connections stay open and nothing answers. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  /** Ends `pause`. */
  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /** Ends the server and removes its directory. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async launch(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.directory];
    args.push('--save', '', '--appendonly', 'no', '--loglevel', 'notice');
    if (this.password !== undefined) args.push('--requirepass', this.password);
    if (this.cluster) args.push('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
    const script = 'redis-server "$@" </dev/null & echo "pid $!"; cat >/dev/null; kill -KILL $!; wait';
    const child = spawn('sh', ['-c', script, 'sh', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process = child;
    const log: string[] = [];
    const ready = this.cluster ? 'Cluster state changed: ok' : 'Ready to accept connections';
    for await (const line of createInterface({ input: child.stdout })) {
      log.push(line);
      const pid = /^pid (\d+)$/.exec(line)?.[1];
      if (pid) this.pid = Number(pid);
      if (this.cluster && line.includes('Ready to accept connections')) this.takeAllSlots();
      if (line.includes(ready)) break;
      if (/bind: |Failed listening|aborting/i.test(line)) break;
    }
    child.stdout.resume();
    if (!log.at(-1)?.includes(ready)) throw new Error(`redis-server did not start:\n${log.join('\n')}`);
  }

  private takeAllSlots(): void {
    spawnSync('redis-cli', ['-p', String(this.port), 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
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
