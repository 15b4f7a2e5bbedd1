import { Inject, Injectable, Logger } from '@nestjs/common';
import { deliveryIdOf } from '../core/task-state.js';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { agentKey } from '../registry/agent-row.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';

const HELD_BY = loadSql(import.meta.url, 'sql/held_by.sql');

/** How long an agent counts as full after other replicas turned out to hold its slots. */
const FULL_FOR_MS = 250;
/**
 * How long a reservation is good for by itself. A pass that takes longer to commit asks for it again, and a set
 * that got lost is not made anew before: the ledger does not show yet what is reserved and being committed.
 */
const GOOD_FOR_MS = 500;
/** A reservation older than this is not relied upon without asking again. */
export const TRUSTED_MS = GOOD_FOR_MS / 2;
/** A slot younger than this may belong to an offer that is being committed. */
const SETTLED_MS = 10_000;
const RECONCILE_CHUNK = 500;

/**
 * The free slots of agents. The coordinator's slot sets are exact over all replicas and are the only step of
 * placement that leaves the process; the reach table's `held` is what this replica knows, to choose by.
 */
@Injectable()
export class Slots {
  private readonly log = new Logger(Slots.name);

  constructor(
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly table: ReachTable,
    private readonly sql: Sql,
  ) {}

  /**
   * Reserves a slot for each delivery; returns how many of them (the first n) got one.
   * @param most how many the agent may hold: fewer than it has while its breaker limits it
   * @throws CoordinatorUnavailable; then nothing may be offered
   */
  async reserve(entry: ReachEntry, deliveryIds: readonly string[], most: number): Promise<number> {
    for (;;) {
      const granted = await this.coordinator.slotsReserve(entry.key, deliveryIds, most);
      if (granted === 'unknown') {
        if (!this.maySeed(entry)) {
          entry.fullUntil = performance.now() + FULL_FOR_MS;
          return 0;
        }
        await this.seed(entry);
        continue;
      }
      entry.slotSet = 'known';
      for (let i = 0; i < granted; i++) entry.held.add(deliveryIds[i] as string);
      if (granted < deliveryIds.length) entry.fullUntil = performance.now() + FULL_FOR_MS;
      return granted;
    }
  }

  /**
   * Just before the commit of a pass: whether its reservations still stand.
   * @param reservedAt ms of the monotonic clock at which they were made
   */
  async stand(
    choices: readonly { entry: ReachEntry; deliveryId: string; slots: number }[],
    reservedAt: number,
  ): Promise<boolean> {
    if (performance.now() - reservedAt < TRUSTED_MS) return true;
    const byEntry = new Map<ReachEntry, { ids: string[]; most: number }>();
    for (const { entry, deliveryId, slots } of choices) {
      const known = byEntry.get(entry);
      if (known === undefined) byEntry.set(entry, { ids: [deliveryId], most: slots });
      else known.ids.push(deliveryId);
    }
    // What is reserved already is granted again, and takes no second slot.
    const granted = await Promise.all(
      [...byEntry].map(([entry, { ids, most }]) => this.reserve(entry, ids, most)),
    );
    return [...byEntry.values()].every(({ ids }, i) => granted[i] === ids.length);
  }

  /** A set that was there and is not any more was lost with its reservations: they need the time to be committed. */
  private maySeed(entry: ReachEntry): boolean {
    if (entry.slotSet === 'known') entry.slotSet = { lostAt: performance.now() };
    if (entry.slotSet === 'new') return true;
    return performance.now() - entry.slotSet.lostAt > GOOD_FOR_MS;
  }

  /**
   * Frees slots; ids that hold none are ignored. Resolves when it is done or known to have failed, and never rejects: a
   * lost call is made up for by the reconcile.
   */
  async release(key: string, deliveryIds: readonly string[]): Promise<void> {
    this.forget(key, deliveryIds);
    try {
      await this.coordinator.slotsRelease(key, deliveryIds);
    } catch (err) {
      this.log.debug({ msg: 'slots were not released; the reconcile will', err });
    }
  }

  /** Another replica freed these slots. */
  forget(key: string, deliveryIds: readonly string[]): void {
    const entry = this.table.get(key);
    if (entry === undefined) return;
    for (const id of deliveryIds) entry.held.delete(id);
    entry.fullUntil = 0;
  }

  private async seed(entry: ReachEntry): Promise<void> {
    const held = await this.heldBy([entry]);
    await this.coordinator.slotsSeed(entry.key, [...(held.get(entry.key) ?? [])]);
  }

  /** Makes the slot sets equal to the ledger: frees what nobody holds, takes what is held but not counted. */
  async reconcile(): Promise<void> {
    const entries = [...this.table.all()];
    for (let i = 0; i < entries.length; i += RECONCILE_CHUNK)
      await this.reconcileChunk(entries.slice(i, i + RECONCILE_CHUNK));
  }

  private async reconcileChunk(entries: readonly ReachEntry[]): Promise<void> {
    const sets = await Promise.all(entries.map((entry) => this.coordinator.slotsList(entry.key)));
    const held = await this.heldBy(entries);
    await Promise.all(
      entries.map(async (entry, i) => {
        const slots = sets[i];
        if (slots === undefined || slots === 'unknown') return;
        const truth = held.get(entry.key) ?? new Set<string>();
        const stray = slots.filter((s) => !truth.has(s.id) && s.ageMs > SETTLED_MS).map((s) => s.id);
        if (stray.length > 0) {
          this.log.warn({
            msg: 'freed slots that nobody holds',
            agent_id: entry.agentId,
            slots: stray.length,
          });
          await this.coordinator.slotsRelease(entry.key, stray);
        }
        const counted = new Set(slots.map((s) => s.id));
        const missing = this.confirmed(
          entry.key,
          'uncounted',
          [...truth].filter((id) => !counted.has(id)),
        );
        if (missing.length > 0)
          await this.coordinator.slotsReserve(entry.key, missing, Number.MAX_SAFE_INTEGER);
        this.forget(
          entry.key,
          this.confirmed(
            entry.key,
            'unheld',
            [...entry.held].filter((id) => !truth.has(id)),
          ),
        );
      }),
    );
  }

  /**
   * Of `ids`, those that stood out in the reconcile before too. One read may catch an offer or a result between
   * its two writes; two reads an interval apart do not.
   */
  private confirmed(key: string, what: string, ids: readonly string[]): string[] {
    const place = `${what} ${key}`;
    const before = this.suspects.get(place);
    if (ids.length === 0) this.suspects.delete(place);
    else this.suspects.set(place, new Set(ids));
    return before === undefined ? [] : ids.filter((id) => before.has(id));
  }

  private readonly suspects = new Map<string, ReadonlySet<string>>();

  private async heldBy(entries: readonly ReachEntry[]): Promise<Map<string, Set<string>>> {
    const { rows } = await this.sql.run<{ namespace: string; agent_id: string; id: string; fence: number }>(
      'held_by',
      HELD_BY,
      [entries.map((e) => e.namespace), entries.map((e) => e.agentId)],
    );
    const held = new Map<string, Set<string>>();
    for (const row of rows) {
      const key = agentKey(row.namespace, row.agent_id);
      const ids = held.get(key);
      if (ids === undefined) held.set(key, new Set([deliveryIdOf(row.id, row.fence)]));
      else ids.add(deliveryIdOf(row.id, row.fence));
    }
    return held;
  }
}
