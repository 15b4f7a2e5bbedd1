import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ReachError } from '../../core/errors.js';
import type { Requirement } from '../../core/lane.js';
import { EVERY_CAPABILITY, type Policy } from '../../core/policy.js';
import type { TimeoutRule } from '../../core/timeouts.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { COORDINATOR, type Coordinator } from '../../platform/coordination/coordinator.js';
import { nestLog } from '../../platform/embedded/log.js';
import { Shutdown } from '../../platform/lifecycle/shutdown.js';
import { Ticker } from '../../platform/lifecycle/ticker.js';
import { persist } from '../../platform/postgres/patient-client.js';
import { agentKey } from '../../registry/agent-row.js';
import { type PolicyRow, PolicyStore } from './policy.store.js';
import { policyOf, settled, timeoutRule } from './settings.js';
import type { FullPolicySettings, PolicySettings } from './policy.wire.js';

const CHANNEL = 'policies';
/** How long the first reading may be tried again while Postgres is restarted. */
const READ_WITHIN_MS = 120_000;
/** Writers of one policy who are in each other's way try again so often. */
const TRIES = 5;

/** What holds for a capability: its own policy over that of its namespace over the defaults. */
export interface Effective {
  settings: FullPolicySettings;
  /** The part of it that choices read. */
  policy: Policy;
  /** For tasks that do not say how long they may run. */
  timeouts: TimeoutRule;
  /** Of that part: under it the policy is kept, and each decision that followed it names it. */
  digest: string;
  /** 0 where there is no policy. */
  version: number;
  namespaceVersion: number;
  /** What it was made of. */
  from: { own: PolicyRow | undefined; every: PolicyRow | undefined };
}

/** The policies, in memory: each placement and each admission reads them. Kept equal to Postgres as the reach table is. */
@Injectable()
export class Policies implements OnApplicationBootstrap {
  private readonly ticker: Ticker;
  /** The last version of each policy, by namespace and capability; of removed ones too. */
  private readonly rows = new Map<string, PolicyRow>();
  /** What follows from them. */
  private readonly known = new Map<string, Effective>();
  /** Digests of what stands in the ledger. */
  private readonly kept = new Set<string>();
  private readonly defaults: Effective;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly store: PolicyStore,
    shutdown: Shutdown,
  ) {
    this.defaults = this.combined({ own: undefined, every: undefined });
    this.ticker = new Ticker('policies', config.reconcileIntervalMs, () => this.read());
    shutdown.on('drain', 'policies', () => this.ticker.stop());
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(CHANNEL, (which) => void this.hear(which));
    this.coordinator.onLost(() => this.ticker.soon());
    const deadline = performance.now() + READ_WITHIN_MS;
    await persist('policies were being read', deadline, nestLog(Policies.name), () => this.read());
    this.ticker.start();
  }

  /**
   * What holds for tasks of this requirement: the policy of its first capability, by name; where it has none, as it names
   * an agent, that of the namespace.
   */
  for({ namespace, capabilities }: Requirement): Effective {
    const [first] = capabilities.map((need) => need.name).sort();
    return this.of(namespace, first ?? EVERY_CAPABILITY);
  }

  of(namespace: string, capability: string): Effective {
    return (
      this.known.get(agentKey(namespace, capability)) ??
      this.known.get(agentKey(namespace, EVERY_CAPABILITY)) ??
      this.defaults
    );
  }

  /** What holds for work of this kind: that of the first of several capabilities that a task named together. */
  ofKind(namespace: string, kind: string): Effective {
    const own = this.known.get(agentKey(namespace, kind));
    if (own !== undefined) return own;
    const plus = kind.indexOf('+');
    return this.of(namespace, plus < 0 ? kind : kind.slice(0, plus));
  }

  /** Whether any policy satisfies this. */
  some(wanted: (settings: FullPolicySettings) => boolean): boolean {
    for (const { settings } of this.known.values()) if (wanted(settings)) return true;
    return false;
  }

  /** @throws ReachError STATE_CONFLICT where another version than `expected` holds */
  async write(
    namespace: string,
    capability: string,
    settings: PolicySettings | null,
    by: string,
    expected: number | undefined,
  ): Promise<PolicyRow> {
    for (let tries = 0; tries < TRIES; tries++) {
      const written = await this.store.write(namespace, capability, settings, by, expected);
      if (written !== undefined) {
        // It is written, whatever happens to what follows from it.
        await this.take([written]).catch(() => this.ticker.soon());
        await this.coordinator
          .publish(CHANNEL, JSON.stringify([namespace, capability]))
          .catch(() => undefined);
        return written;
      }
      if (expected !== undefined) break;
    }
    const [holds] = await this.store.versions(namespace, capability);
    if (settings === null && holds?.settings == null)
      throw new ReachError('NOT_FOUND', `${capability} has no policy of its own in namespace ${namespace}`);
    throw new ReachError(
      'STATE_CONFLICT',
      `the policy of ${capability} is at version ${holds?.version ?? 0}` +
        (expected === undefined ? ' and being written by others' : `, not at ${expected}`) +
        '; read it, and write it again',
      { retryable: expected === undefined },
    );
  }

  /** Another replica wrote a policy. */
  private async hear(which: string): Promise<void> {
    try {
      const [namespace, capability] = JSON.parse(which) as [string, string];
      await this.take(await this.store.current(namespace, capability));
    } catch {
      this.ticker.soon();
    }
  }

  private async read(): Promise<void> {
    await this.take(await this.store.current());
  }

  private async take(rows: readonly PolicyRow[]): Promise<void> {
    for (const row of rows) {
      const key = agentKey(row.namespace, row.capability);
      if (row.version > (this.rows.get(key)?.version ?? 0)) this.rows.set(key, row);
    }
    const changed = new Map<string, Effective>();
    for (const [key, row] of this.rows) {
      const from = this.partsOf(row);
      if (!isMadeOf(this.known.get(key), from)) changed.set(key, this.combined(from));
    }
    // Before anybody decides by it.
    await this.keep([this.defaults, ...changed.values()]);
    for (const [key, effective] of changed) {
      const row = this.rows.get(key);
      // Else something newer came meanwhile, and whoever brought it makes it anew.
      if (row !== undefined && isMadeOf(effective, this.partsOf(row))) this.known.set(key, effective);
    }
  }

  private partsOf(row: PolicyRow): Effective['from'] {
    const every = this.rows.get(agentKey(row.namespace, EVERY_CAPABILITY));
    return { own: row.capability === EVERY_CAPABILITY ? undefined : row, every };
  }

  private async keep(all: readonly Effective[]): Promise<void> {
    const fresh = new Map(all.filter((e) => !this.kept.has(e.digest)).map((e) => [e.digest, e.policy]));
    if (fresh.size === 0) return;
    await this.store.follow(fresh);
    for (const digest of fresh.keys()) this.kept.add(digest);
  }

  private combined(from: Effective['from']): Effective {
    const { own, every } = from;
    const settings = settled(own?.settings, every?.settings, this.config);
    const policy = policyOf(settings);
    return {
      settings,
      policy,
      timeouts: timeoutRule(settings),
      digest: digestOf(policy),
      version: own?.settings ? own.version : 0,
      namespaceVersion: every?.settings ? every.version : 0,
      from,
    };
  }
}

function isMadeOf(effective: Effective | undefined, { own, every }: Effective['from']): boolean {
  return effective !== undefined && effective.from.own === own && effective.from.every === every;
}

function digestOf(policy: Policy): string {
  return createHash('sha256').update(JSON.stringify(policy)).digest('hex').slice(0, 16);
}
