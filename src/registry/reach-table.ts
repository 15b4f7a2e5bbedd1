import { Inject, Injectable } from '@nestjs/common';
import type { AgentState } from '../core/agent-state.js';
import { Breaker } from '../core/breaker.js';
import { eligibleOf, sampleEligible, type Candidate, type Eligible } from '../core/eligibility.js';
import { IndexedSet } from '../core/indexed-set.js';
import type { Requirement } from '../core/lane.js';
import { DEFAULT_POLICY } from '../core/policy.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { reachFactsOf, type DeclaredDependency, type StoredFacts } from './agent-facts.js';
import { agentKey, type AgentRow, type Transport } from './agent-row.js';
import { Aliases } from './aliases.js';

/** Up to this size a look at all candidates costs about what a sample does. */
const SMALL_FLEET = 32;
/** As many as a choice compares at most. */
const LEAST_SAMPLE = 10;

/** One agent in the reach table. `held` and `fullUntil` are kept by the scheduler's slots, `breaker` by its evidence. */
export class ReachEntry implements Candidate {
  readonly key: string;
  readonly namespace: string;
  readonly agentId: string;
  name!: string;
  /** By the names it declared, and by those that they are aliases of. */
  capabilities!: ReadonlyMap<string, string | undefined>;
  /** The name that it declared, by the one that this is an alias of. */
  private declared: ReadonlyMap<string, string> | undefined;
  tags!: readonly string[];
  zone: string | undefined;
  state!: AgentState;
  stateReason!: string;
  criticalDown: string | undefined;
  warmingUp: string | undefined;
  hold: string | undefined;
  dependencies!: readonly DeclaredDependency[];
  /** As of this revision; counts in it may be as old as the last full read. */
  facts!: StoredFacts;
  features!: readonly string[];
  heartbeatIntervalMs!: number;
  maxConcurrency!: number;
  weight!: number;
  transport!: Transport;
  endpoint: string | undefined;
  /** Who registered it on its behalf, and from what. */
  source: { name: string; digest: string } | undefined;
  leaseId!: string;
  rev!: number;
  /** Delivery ids this replica knows the agent to hold. */
  readonly held = new Set<string>();
  /** Until this moment of the monotonic clock (ms) the agent counts as full: other replicas filled it. */
  fullUntil = 0;
  readonly breaker = new Breaker(DEFAULT_POLICY.breaker);
  /** What this replica knows of the agent's slot set: nothing yet, that it is there, or since when it is lost. */
  slotSet: 'new' | 'known' | { lostAt: number } = 'new';

  constructor(
    row: AgentRow,
    private readonly warmUpProbes: number,
    private readonly aliases = new Aliases(),
  ) {
    this.key = agentKey(row.namespace, row.agent_id);
    this.namespace = row.namespace;
    this.agentId = row.agent_id;
    this.update(row);
  }

  update(row: AgentRow): void {
    this.name = row.name;
    this.nameCapabilities(row.capabilities.map((c) => [c.name, c.version]));
    this.tags = row.tags;
    const zone = row.metadata['zone'];
    this.zone = typeof zone === 'string' ? zone : undefined;
    this.state = row.state;
    this.stateReason = row.state_reason;
    const { criticalDown, warmingUp } = reachFactsOf(row, row.facts, this.warmUpProbes);
    this.criticalDown = criticalDown;
    this.warmingUp = warmingUp;
    this.hold = row.hold_reason ?? undefined;
    this.dependencies = row.dependencies;
    this.facts = row.facts;
    this.features = row.features;
    this.heartbeatIntervalMs = row.heartbeat_interval_ms;
    this.maxConcurrency = row.max_concurrency;
    this.weight = row.weight;
    this.transport = row.transport;
    this.endpoint = row.endpoint ?? undefined;
    this.source = row.source === null ? undefined : { name: row.source, digest: row.source_digest ?? '' };
    this.leaseId = row.lease_id;
    this.rev = row.rev;
  }

  /** Takes the aliases of the day over; whether they changed its names. */
  rename(): boolean {
    const before = [...this.capabilities.keys()].join('\n');
    this.nameCapabilities([...this.capabilities].filter(([name]) => !this.declared?.has(name)));
    return before !== [...this.capabilities.keys()].join('\n');
  }

  /** The name under which the agent declared a capability, and knows it. */
  nameOf(capability: string): string {
    return this.declared?.get(capability) ?? capability;
  }

  private nameCapabilities(own: readonly (readonly [string, string | undefined])[]): void {
    const capabilities = new Map(own);
    const declared = new Map<string, string>();
    for (const [name, version] of own) {
      const meant = this.aliases.resolve(this.namespace, name);
      if (capabilities.has(meant)) continue;
      capabilities.set(meant, version);
      declared.set(meant, name);
    }
    this.capabilities = capabilities;
    this.declared = declared.size === 0 ? undefined : declared;
  }

  get inFlight(): number {
    return this.fullUntil > performance.now() ? this.maxConcurrency : this.held.size;
  }

  // Asked for each candidate of each choice: the clock is not, where there is nothing to tell.
  get ejected(): string | undefined {
    return this.breaker.isClosed ? undefined : this.breaker.ejection(performance.now());
  }

  get throttled(): boolean {
    return !this.breaker.isClosed && this.breaker.isThrottled(performance.now());
  }

  get allowed(): number {
    if (this.breaker.isClosed) return this.maxConcurrency;
    return this.breaker.slots(performance.now(), this.maxConcurrency);
  }
}

/**
 * What this replica knows of every agent, in memory: placement reads it and nothing else. Kept equal to
 * Postgres by news of each change and by a periodic full reconcile (ReachSync).
 */
@Injectable()
export class ReachTable {
  private readonly entries = new Map<string, ReachEntry>();
  private readonly byCapability = new Map<string, IndexedSet<ReachEntry>>();
  private readonly byName = new Map<string, IndexedSet<ReachEntry>>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly aliases: Aliases = new Aliases(),
  ) {}

  get(key: string): ReachEntry | undefined {
    return this.entries.get(key);
  }

  /** The name under which an agent declared a capability that a task is for. */
  nameFor(key: string, capability: string): string {
    return this.entries.get(key)?.nameOf(capability) ?? capability;
  }

  get size(): number {
    return this.entries.size;
  }

  all(): IterableIterator<ReachEntry> {
    return this.entries.values();
  }

  /** Takes a row over if it is newer than what is known; returns the entry when something changed. */
  apply(row: AgentRow): ReachEntry | undefined {
    const key = agentKey(row.namespace, row.agent_id);
    const known = this.entries.get(key);
    if (known !== undefined && known.rev >= row.rev) {
      // Counts change without a revision.
      if (known.rev === row.rev) known.facts = row.facts;
      return undefined;
    }
    if (row.removed_at !== null) {
      if (known !== undefined) this.forget(known);
      return known;
    }
    if (known === undefined) {
      const entry = new ReachEntry(row, this.config.warmUpProbes, this.aliases);
      this.entries.set(key, entry);
      this.index(entry);
      return entry;
    }
    this.unindex(known);
    known.update(row);
    this.index(known);
    return known;
  }

  /** The aliases changed: entries that they concern. */
  rename(): ReachEntry[] {
    return [...this.entries.values()].filter((entry) => {
      this.unindex(entry);
      const renamed = entry.rename();
      this.index(entry);
      return renamed;
    });
  }

  /** The names that agents of a namespace offer, and how many do. */
  *offered(namespace: string): Iterable<[string, number]> {
    const prefix = agentKey(namespace, '');
    for (const [key, entries] of this.byCapability)
      if (key.startsWith(prefix)) yield [key.slice(prefix.length), entries.length];
  }

  /** Which revision of each agent is known: taken before a full read, handed to `replaceAll` after it. */
  revisions(): Map<string, number> {
    return new Map([...this.entries].map(([key, entry]) => [key, entry.rev]));
  }

  /**
   * Makes the table equal to `rows`, a full read. What was known `before` the read and is not in it is gone;
   * what came by news in between stays. Returns the entries that changed.
   */
  replaceAll(rows: readonly AgentRow[], before: ReadonlyMap<string, number>): ReachEntry[] {
    const changed: ReachEntry[] = [];
    const present = new Set<string>();
    for (const row of rows) {
      present.add(agentKey(row.namespace, row.agent_id));
      const entry = this.apply(row);
      if (entry !== undefined) changed.push(entry);
    }
    for (const entry of [...this.entries.values()])
      if (!present.has(entry.key) && before.get(entry.key) === entry.rev) {
        this.forget(entry);
        changed.push(entry);
      }
    return changed;
  }

  /** Agents that could match the requirement at all: the smallest index that covers it. */
  candidates(r: Requirement): IndexedSet<ReachEntry> | readonly ReachEntry[] {
    if (r.agentId !== undefined) {
      const entry = this.entries.get(agentKey(r.namespace, r.agentId));
      return entry === undefined ? [] : [entry];
    }
    if (r.name !== undefined) return this.byName.get(agentKey(r.namespace, r.name)) ?? [];
    let smallest: IndexedSet<ReachEntry> | undefined;
    for (const need of r.capabilities) {
      const offered = this.byCapability.get(agentKey(r.namespace, need.name));
      if (offered === undefined) return [];
      if (smallest === undefined || offered.length < smallest.length) smallest = offered;
    }
    return smallest ?? [];
  }

  /** Candidates that may take such a task now, and why the others may not. */
  eligible(r: Requirement, panicAllowed: boolean): Eligible<ReachEntry> {
    return eligibleOf(this.candidates(r), r, panicAllowed);
  }

  /**
   * As `eligible`, but of a large fleet some of them, drawn at random: enough to place so many tasks.
   * @param tasks where one has to go to an agent of its own (affinity), `eligible` is to be asked
   */
  someEligible(r: Requirement, tasks: number, panicAllowed: boolean): Eligible<ReachEntry> {
    const candidates = this.candidates(r);
    const enough = LEAST_SAMPLE + 2 * tasks;
    const sample =
      candidates.length > SMALL_FLEET
        ? sampleEligible(candidates, r, Math.min(enough, candidates.length), Math.random)
        : undefined;
    return sample ?? eligibleOf(candidates, r, panicAllowed);
  }

  private forget(entry: ReachEntry): void {
    this.entries.delete(entry.key);
    this.unindex(entry);
  }

  private index(entry: ReachEntry): void {
    for (const name of entry.capabilities.keys())
      addTo(this.byCapability, agentKey(entry.namespace, name), entry);
    addTo(this.byName, agentKey(entry.namespace, entry.name), entry);
  }

  private unindex(entry: ReachEntry): void {
    for (const name of entry.capabilities.keys())
      removeFrom(this.byCapability, agentKey(entry.namespace, name), entry);
    removeFrom(this.byName, agentKey(entry.namespace, entry.name), entry);
  }
}

function addTo(index: Map<string, IndexedSet<ReachEntry>>, key: string, entry: ReachEntry): void {
  let set = index.get(key);
  if (set === undefined) index.set(key, (set = new IndexedSet()));
  set.add(entry);
}

function removeFrom(index: Map<string, IndexedSet<ReachEntry>>, key: string, entry: ReachEntry): void {
  const set = index.get(key);
  if (set === undefined) return;
  set.delete(entry);
  if (set.length === 0) index.delete(key);
}
