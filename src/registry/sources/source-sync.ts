import { Logger } from '@nestjs/common';
import { ReachError } from '../../core/errors.js';
import { SourceEvidence } from '../../core/source-evidence.js';
import type { Config } from '../../platform/config/config.js';
import { newId } from '../../platform/ids.js';
import type { ReachEntry, ReachTable } from '../reach-table.js';
import type { Registry } from '../registry.js';
import type { RegistryStore } from '../registry.store.js';
import type { RegistrySource } from './registry-source.js';
import { listingOf, type Listed, type Listing } from './source-listing.js';

/** Registrations under way at a time. */
const AT_A_TIME = 16;
const TELL_AGAIN_MS = 60_000;

export interface SyncDeps {
  config: Pick<Config, 'sourceNamespace' | 'sourceGraceMs'>;
  registry: Registry;
  store: RegistryStore;
  table: ReachTable;
  /** There is news to be looked at. */
  wake: () => void;
  failed: () => void;
}

/**
 * Keeps the agents of one source as that has them, on the replica that looks after it. What was registered is known
 * from the reach table, where it is marked, so another replica goes on where this one stopped.
 */
export class SourceSync {
  private readonly log = new Logger(SourceSync.name);
  private readonly evidence: SourceEvidence;
  private listing: Listing | undefined;
  private isFailing = false;
  private toldAt = -Infinity;
  private watching: { end: AbortController; done: Promise<void> } | undefined;
  /** By lease, so that a new one is renewed at once. */
  private renewedAt = new Map<string, number>();
  private complained = new Map<string, string>();

  constructor(
    readonly source: RegistrySource,
    private readonly deps: SyncDeps,
  ) {
    this.evidence = new SourceEvidence(deps.config.sourceGraceMs);
  }

  /** Whether this replica follows the source and it answers. */
  get isUp(): boolean {
    return this.watching !== undefined && this.listing !== undefined && !this.isFailing;
  }

  /** Follows the source from now on, or no more. */
  async follow(isOwner: boolean): Promise<void> {
    if (isOwner === (this.watching !== undefined)) return;
    if (isOwner) return this.begin();
    const { end, done } = this.watching ?? {};
    this.watching = undefined;
    end?.abort();
    await done;
  }

  /** One round: registers what is new or changed, renews what is well, removes what is gone for good. */
  async round(): Promise<void> {
    if (this.watching === undefined) return;
    const known = [...this.deps.table.all()].filter((e) => e.source?.name === this.source.name);
    const byKey = new Map(known.map((entry) => [entry.key, entry]));
    const verdict = this.evidence.judge([...byKey.keys()], this.listing, this.isFailing, performance.now());
    const entriesOf = (keys: string[]) => keys.flatMap((key) => byKey.get(key) ?? []);
    await Promise.all([this.renewAll(entriesOf(verdict.renew)), this.registerAll()]);
    for (const entry of entriesOf(verdict.remove)) await this.remove(entry);
  }

  private begin(): void {
    const end = new AbortController();
    const { signal } = end;
    // What this replica heard when it last followed the source is old by now.
    this.listing = undefined;
    this.log.log({ event: 'reach_source', msg: `this replica follows ${this.source.name}` });
    const listener = {
      instances: (list: Parameters<typeof listingOf>[0], isComplete: boolean) => {
        if (!signal.aborted) this.heard(listingOf(list, isComplete, this.deps.config.sourceNamespace));
      },
      failed: (error: Error) => {
        if (!signal.aborted) this.failed(error);
      },
    };
    this.watching = { end, done: this.source.watch(listener, signal) };
  }

  private heard(listing: Listing): void {
    this.listing = listing;
    this.isFailing = false;
    for (const place of this.complained.keys())
      if (place.startsWith('instance ') && !listing.complaints.has(place.slice('instance '.length)))
        this.complained.delete(place);
    for (const [place, message] of listing.complaints) this.complain(`instance ${place}`, message);
    this.deps.wake();
  }

  private failed(error: Error): void {
    this.deps.failed();
    const now = performance.now();
    // Parts may fail for long while others are read: that is told now and then only.
    if (now - this.toldAt > TELL_AGAIN_MS) {
      this.toldAt = now;
      this.log.warn({
        event: 'reach_source',
        msg: `${this.source.name} cannot be read; its agents stay as they are, and it is asked again`,
        err: error,
      });
    }
    this.isFailing = true;
  }

  /** Once, until it is about something else. */
  private complain(place: string, msg: string): void {
    if (this.complained.get(place) === msg) return;
    this.complained.set(place, msg);
    this.log.warn({ event: 'reach_source_refused', source: this.source.name, msg });
  }

  private async registerAll(): Promise<void> {
    const todo = [...(this.listing?.agents.values() ?? [])].filter((listed) => this.isToBeRegistered(listed));
    const work = async (): Promise<void> => {
      for (let listed = todo.pop(); listed !== undefined; listed = todo.pop())
        await this.register(listed).catch((error: unknown) => this.notRegistered(listed, error));
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
  }

  private isToBeRegistered(listed: Listed): boolean {
    if (!listed.healthy) return false;
    const entry = this.deps.table.get(listed.key);
    if (entry === undefined) return true;
    if (entry.source?.name !== this.source.name) {
      this.conflict(listed);
      return false;
    }
    this.complained.delete(`id ${listed.key}`);
    if (entry.state === 'removing') return false;
    return entry.state === 'offline' || entry.source.digest !== listed.digest;
  }

  private async register({ body, digest }: Listed): Promise<void> {
    const row = await this.deps.store.find(body.namespace, body.agent_id);
    const isThere = row !== undefined && row.removed_at === null;
    // Under the same lease where there is one: what it works on stays its own.
    const leaseId = isThere && row.state !== 'offline' ? row.lease_id : newId();
    const lease = { lease_id: leaseId, replaces_lease_id: row?.lease_id ?? leaseId };
    await this.deps.registry.register({ ...body, ...lease }, { name: this.source.name, digest });
    this.renewedAt.set(leaseId, performance.now());
  }

  private notRegistered(listed: Listed, error: unknown): void {
    if (error instanceof ReachError && isLeaseError(error)) this.conflict(listed);
    else {
      const msg = `agent ${listed.body.agent_id} of ${this.source.name} was not registered; it will be tried again`;
      this.log.warn({ msg, err: error });
    }
  }

  private conflict({ key, body }: Listed): void {
    const id = body.agent_id;
    const msg = `${this.source.name} lists an agent ${id}, but another registered under that id, and keeps it`;
    this.complain(`id ${key}`, msg);
  }

  private async renewAll(entries: readonly ReachEntry[]): Promise<void> {
    const now = performance.now();
    const kept = new Map<string, number>();
    const due: ReachEntry[] = [];
    for (const entry of entries) {
      if (entry.state === 'offline' || entry.state === 'removing') continue;
      const at = this.renewedAt.get(entry.leaseId) ?? -Infinity;
      const isDue = now - at >= entry.heartbeatIntervalMs / 2;
      kept.set(entry.leaseId, isDue ? now : at);
      if (isDue) due.push(entry);
    }
    this.renewedAt = kept;
    await Promise.all(due.map((entry) => this.renew(entry)));
  }

  private async renew(entry: ReachEntry): Promise<void> {
    try {
      await this.deps.registry.heartbeat(refOf(entry));
    } catch (error) {
      this.renewedAt.delete(entry.leaseId);
      // It lost its lease to somebody, or to time: the table will say so.
      if (!(error instanceof ReachError && isLeaseError(error))) throw error;
    }
  }

  private async remove(entry: ReachEntry): Promise<void> {
    if (entry.state === 'removing') return;
    const reason = `gone from ${this.source.name}`;
    await this.deps.registry.deregister(refOf(entry), undefined, reason).catch((error: unknown) => {
      if (!(error instanceof ReachError && isLeaseError(error))) throw error;
    });
  }
}

function refOf(entry: ReachEntry) {
  return { namespace: entry.namespace, agentId: entry.agentId, leaseId: entry.leaseId };
}

function isLeaseError(error: ReachError): boolean {
  return error.code === 'LEASE_SUPERSEDED' || error.code === 'LEASE_EXPIRED';
}
