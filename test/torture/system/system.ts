import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dispatcher } from '../../support/dispatcher.js';
import { RedisServer } from '../../support/redis-server.js';
import { CAPABILITIES } from '../plan/work.js';
import type { AgentsOrders } from '../roles/agents.js';
import { FaultProxy } from './fault-proxy.js';
import { type PostgresUnderTest, postgresOf, startPostgres } from './postgres.js';
import { RoleProcess } from './role-process.js';
import { SmallDisk } from './small-disk.js';

export type Mode = 'distributed' | 'embedded';

export interface SystemOptions {
  mode: Mode;
  dispatchers: number;
  /** Processes with agents. */
  groups: number;
  agentsPerGroup: number;
  namespace: string;
  /** Whether Postgres gets a disk that can be full, where that is possible. */
  smallDisk: boolean;
  /** Main file of the dispatchers; the built server unless set. */
  main?: string;
  seed: number;
  /** Where the ledgers are written. */
  out: string;
}

/** Overdue after one and a half of it: what is dead is known to be within 3 s, also on a busy machine. */
export const HEARTBEAT_INTERVAL_MS = 700;
export const LEASE_TTL_MS = 4000;
export const SWEEP_INTERVAL_MS = 500;
const CONCURRENCY = [1, 2, 4, 8];

/** What every dispatcher of a run is set to: the product's own behaviour, only at a shorter scale. */
const SETTINGS: Readonly<Record<string, string>> = {
  REACH_SWEEP_INTERVAL_MS: String(SWEEP_INTERVAL_MS),
  REACH_RECONCILE_INTERVAL_MS: '2000',
  REACH_RETRY_BASE_MS: '100',
  REACH_LOG_FORMAT: 'json',
};

const BLOCK_LOOP = join(import.meta.dirname, 'block-loop.js');

/** The addresses of proxies, beginning with number `first`. */
function inTurn(proxies: readonly FaultProxy[], first: number): string[] {
  return proxies.map((_, i) => `http://127.0.0.1:${proxies[(first + i) % proxies.length]?.port}`);
}

/** Everything that a run starts: servers, dispatchers, agents. All of it dies with this process. */
export class System {
  readonly dispatchers: Dispatcher[] = [];
  readonly groups: RoleProcess[] = [];
  /** The ways that can be broken, of each dispatcher: to those who call it, to Postgres, and to Redis. */
  readonly links: FaultProxy[] = [];
  private readonly fronts: FaultProxy[] = [];
  /** The ways of each group of agents, to each dispatcher. */
  private readonly ways: FaultProxy[][] = [];
  /** Where Postgres keeps its data, where a small disk could be had for it. */
  disk: SmallDisk | undefined;
  redis: RedisServer | undefined;
  postgres!: PostgresUnderTest;
  private readonly directories: string[] = [];

  private constructor(readonly options: SystemOptions) {}

  /** Starts servers and dispatchers; agents come with `startAgents`. */
  static async start(options: SystemOptions): Promise<System> {
    const system = new System(options);
    try {
      if (options.mode === 'embedded') await system.startEmbedded();
      else await system.startDistributed();
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Where clients find the dispatchers. */
  urls(): string[] {
    return inTurn(this.fronts, 0);
  }

  /** The ways of group `i` to the dispatchers; the client and other groups have their own. */
  waysOf(i: number): readonly FaultProxy[] {
    return this.ways[i % this.ways.length] ?? [];
  }

  async startAgents(): Promise<void> {
    for (let i = 0; i < this.options.groups; i++) {
      this.ways.push(await Promise.all(this.fronts.map(({ port }) => FaultProxy.start(() => port))));
      this.groups.push(new RoleProcess('agents', (life) => this.agentsOrders(i, life)));
    }
    await Promise.all(this.groups.map((group) => group.start('ready')));
  }

  /** The agents of group `i`. */
  agentIds(i: number): string[] {
    return Array.from({ length: this.options.agentsPerGroup }, (_, j) => `agent-${i}-${j}`);
  }

  /** What the agents promised when they registered: most work at a time. */
  concurrency(): Map<string, number> {
    return new Map(
      Array.from({ length: this.options.groups }, (_, i) =>
        this.agentsOrders(i, 0).agents.map((a): [string, number] => [a.agentId, a.maxConcurrency]),
      ).flat(),
    );
  }

  /** Ends the dispatchers in the orderly way; resolves with their exit codes. */
  async stopDispatchers(): Promise<(number | null)[]> {
    return Promise.all(this.dispatchers.map((d) => d.terminate()));
  }

  /** Ends everything, and removes it. */
  async stop(): Promise<void> {
    await Promise.all(this.groups.map((group) => group.kill9()));
    await Promise.all(this.dispatchers.map((d) => d.kill9()));
    await Promise.all([...this.links, ...this.ways.flat()].map((link) => link.stop()));
    await this.redis?.stop();
    await this.postgres?.stop();
    this.disk?.unmount();
    for (const path of this.directories)
      await rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  private async startEmbedded(): Promise<void> {
    const dataDir = await this.directory('embedded');
    await this.add({ REACH_DATA_DIR: dataDir });
    this.postgres = await postgresOf(dataDir);
  }

  private async startDistributed(): Promise<void> {
    this.redis = await RedisServer.start();
    const forPostgres = await this.directory('postgres');
    if (this.options.smallDisk) this.disk = SmallDisk.mount(forPostgres);
    this.postgres = await startPostgres(forPostgres);
    const dataDir = await this.directory('dispatchers');
    for (let i = 0; i < this.options.dispatchers; i++) {
      await this.add({
        DATABASE_URL: await this.through(this.postgres.url),
        REDIS_URL: await this.through(this.redis.url),
        REACH_OUTBOUND_LOOPBACK: 'allow',
        REACH_DATA_DIR: dataDir,
        REACH_REPLICA_ID: `dispatcher-${i}`,
      });
    }
  }

  private async add(env: Record<string, string>): Promise<void> {
    const dispatcher = new Dispatcher({ ...SETTINGS, ...env }, this.options.main, ['--import', BLOCK_LOOP]);
    this.dispatchers.push(dispatcher);
    await dispatcher.start();
    const front = await FaultProxy.start(() => Number(new URL(dispatcher.url).port));
    this.fronts.push(front);
    this.links.push(front);
  }

  /** The same address by way of a proxy. */
  private async through(url: string): Promise<string> {
    const address = new URL(url);
    const port = Number(address.port);
    const proxy = await FaultProxy.start(() => port);
    this.links.push(proxy);
    address.port = String(proxy.port);
    return address.href;
  }

  private agentsOrders(i: number, life: number): AgentsOrders {
    const { namespace, out, seed } = this.options;
    return {
      seed,
      ledger: join(out, `agents-${i}-${life}.jsonl`),
      namespace,
      heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
      leaseTtlMs: LEASE_TTL_MS,
      agents: this.agentIds(i).map((agentId, j) => ({
        agentId,
        urls: inTurn(this.waysOf(i), i + j),
        transport: (i + j) % 3 === 0 ? 'pull' : 'session',
        maxConcurrency: CONCURRENCY[(i + j) % CONCURRENCY.length] as number,
        // Every capability has agents in every group, and no agent has all.
        capabilities: CAPABILITIES.filter((_, c) => (i + j + c) % CAPABILITIES.length !== 0),
      })),
    };
  }

  private async directory(name: string): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), `reach-torture-${name}-`));
    // Under root Postgres runs as another account, which has to pass through.
    await chmod(path, 0o711);
    this.directories.push(path);
    return path;
  }
}
