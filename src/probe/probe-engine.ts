import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { RegistryEvents } from '../registry/registry.events.js';
import { AgentTarget } from './agent-target.js';
import { AgentWatch } from './agent-watch.js';
import { DependencyWatch } from './dependency-watch.js';
import { EchoPort } from './echo-port.js';
import { Pacer, type Ended } from './pacer.js';
import { PeerWatch } from './peer-watch.js';
import { ProbeMetrics } from './probe-metrics.js';
import { Replicas } from './replicas.js';
import { Settler } from './settler.js';
import type { SharedTarget } from './shared-target.js';

const COUNT_AGAIN_MS = 1000;

/**
 * Keeps the probes going: follows the agents, shares the targets with the other replicas, starts what is due and
 * has each end settled.
 */
@Injectable()
export class ProbeEngine implements OnApplicationBootstrap {
  private readonly log = new Logger(ProbeEngine.name);
  private readonly pacer: Pacer<SharedTarget | AgentTarget>;
  private readonly beats: Ticker;
  private liveIds = '';
  private watched = new Map<string, Set<string>>();
  private countedAtMs = -Infinity;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly table: ReachTable,
    private readonly events: RegistryEvents,
    private readonly port: EchoPort,
    private readonly replicas: Replicas,
    private readonly dependencies: DependencyWatch,
    private readonly agents: AgentWatch,
    private readonly peers: PeerWatch,
    private readonly settler: Settler,
    private readonly metrics: ProbeMetrics,
    shutdown: Shutdown,
  ) {
    this.pacer = new Pacer(config.probePool, (target, ended) => this.ended(target, ended));
    this.beats = new Ticker('replica heartbeat', config.membershipIntervalMs, () => this.beat());
    dependencies.connect(this.pacer);
    agents.connect(this.pacer);
    shutdown.on('intake', 'probes', () => this.stop());
  }

  async onApplicationBootstrap(): Promise<void> {
    this.events.listen('changed', (entry) => this.follow(entry.key));
    this.port.on('opened', (key) => this.follow(key));
    this.port.on('closed', (key) => this.follow(key));
    this.metrics.watch(() => ({
      targets: this.pacer.size,
      inFlight: this.pacer.inFlight,
      stretch: this.pacer.stretch,
      replicas: this.replicas.live().length,
    }));
    await this.beat().catch((err: unknown) =>
      this.log.warn({ msg: 'the first heartbeat of this replica failed', err }),
    );
    this.beats.start();
  }

  /** What it is busy with. */
  load(): { targets: number; in_flight: number; stretch: number } {
    const { size, inFlight, stretch } = this.pacer;
    return { targets: size, in_flight: inFlight, stretch };
  }

  private async beat(): Promise<void> {
    try {
      await this.replicas.beat();
    } finally {
      this.shareOut();
    }
  }

  /** Shares the targets out anew when replicas came or went. */
  private shareOut(): void {
    const live = this.replicas.live();
    this.beats.within(this.replicas.nextChangeMs() + 1);
    this.dependencies.plan();
    const ids = live.map((m) => `${m.replicaId} ${m.zone ?? ''}`).join('\n');
    if (ids === this.liveIds) return;
    this.liveIds = ids;
    this.agents.setLive(live);
    this.dependencies.setLive(live);
    this.peers.setLive(live);
    for (const entry of this.table.all()) this.follow(entry.key);
    this.log.log({
      event: 'reach_replicas',
      msg: 'the probes are shared out',
      replicas: live.map((m) => m.replicaId),
    });
  }

  /** A dead heartbeat saves the echo and the probes of dependencies: nobody is asked about who is gone. */
  private follow(key: string): void {
    const entry = this.table.get(key);
    const wanted = entry !== undefined && isProbed(entry) ? entry : undefined;
    this.agents.follow(key, wanted);
    this.dependencies.follow(key, wanted);
    this.peers.follow(key, wanted);
  }

  private ended(target: SharedTarget | AgentTarget, ended: Ended): number {
    const before = target.verdict;
    const stretch = this.pacer.stretchOf(target.id) * target.stretch;
    const dueMs = this.settler.settle(target, ended, (namespace) => this.watchedIn(namespace), stretch);
    // A result that left the verdict as it was did not count: it may have been ours.
    const isCounted = target instanceof AgentTarget && target.verdict !== before;
    return isCounted ? (this.agents.counted(target, ended) ?? dueMs) : dueMs;
  }

  /** Agents of a namespace that anything is asked about here; counted at most once a second, in times of trouble. */
  private watchedIn(namespace: string): number {
    if (performance.now() - this.countedAtMs > COUNT_AGAIN_MS) {
      this.countedAtMs = performance.now();
      this.watched = new Map();
      for (const target of this.pacer.targets())
        for (const { ref, agentKey } of target.listeners()) {
          const agents = this.watched.get(ref.namespace);
          if (agents === undefined) this.watched.set(ref.namespace, new Set([agentKey]));
          else agents.add(agentKey);
        }
    }
    return this.watched.get(namespace)?.size ?? 0;
  }

  private async stop(): Promise<void> {
    await this.beats.stop();
    await this.pacer.stop();
    await this.replicas.leave().catch(() => undefined);
  }
}

function isProbed(entry: ReachEntry): boolean {
  return entry.state !== 'offline' && entry.state !== 'removing';
}
