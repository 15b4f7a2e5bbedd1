import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { requirementOf, type Requirement } from '../core/lane.js';
import { CoordinatorUnavailable } from '../platform/coordination/coordinator.js';
import { reportOnce } from '../platform/coordination/report-once.js';
import { agentKey } from '../registry/agent-row.js';
import type { ReachEntry } from '../registry/reach-table.js';
import { RegistryEvents } from '../registry/registry.events.js';
import { Placement } from './placement.js';

/** Passes at a time, over all lanes: each holds a Postgres connection while it places. */
const PARALLEL_PASSES = 4;
const RETRY_AFTER_ERROR_MS = 250;
const REPORT_EVERY_MS = 30_000;

interface Pass {
  again: boolean;
  /** how many tasks were placed */
  done: Promise<number>;
}

/**
 * Which lanes wait for capacity, and the passes that place them: one at a time a lane, a few in all. A wake-up
 * during a pass makes it look once more, so none is lost and a busy lane is placed in batches.
 */
@Injectable()
export class Lanes implements OnApplicationBootstrap {
  private readonly log = new Logger(Lanes.name);
  private readonly passes = new Map<string, Pass>();
  private readonly waiting: (() => void)[] = [];
  private busy = 0;
  /** One retry a lane, however many passes of it failed. */
  private readonly retries = new Map<string, NodeJS.Timeout>();
  private readonly report = reportOnce(
    (msg, err) => this.log.warn({ msg, err }),
    REPORT_EVERY_MS,
    () => performance.now(),
  );
  /** Lanes whose last pass left tasks behind, by what could take them. */
  private readonly backlog = new Map<string, Requirement>();
  private readonly backlogByNeed = new Map<string, Set<string>>();
  /** Lanes whose last pass failed, with why. */
  private readonly failures = new Map<string, string>();
  private stopped = false;

  constructor(
    private readonly placement: Placement,
    private readonly events: RegistryEvents,
  ) {}

  onApplicationBootstrap(): void {
    this.events.listen('changed', (entry) => this.wakeFor(entry));
    this.events.listen('switched', () => this.wakeAll());
  }

  /** Why the lane could not be placed the last time, if it could not. */
  failureOf(lane: string): string | undefined {
    return this.failures.get(lane);
  }

  isPlacing(lane: string): boolean {
    return this.passes.has(lane);
  }

  /** It is being placed, or its last pass left tasks behind. */
  isBusy(lane: string): boolean {
    return this.passes.has(lane) || this.backlog.has(lane);
  }

  /** Sees to it that the lane is looked at after this moment. */
  wake(lane: string): void {
    void this.place(lane);
  }

  /**
   * As `wake`; resolves when the pass is over, with how many tasks it placed. Never rejects: the backlog sweep is
   * the second chance.
   */
  place(lane: string): Promise<number> {
    const running = this.passes.get(lane);
    if (running !== undefined) {
      running.again = true;
      return running.done;
    }
    if (this.stopped) return Promise.resolve(0);
    const pass: Pass = { again: false, done: Promise.resolve(0) };
    this.passes.set(lane, pass);
    pass.done = this.run(lane, pass);
    return pass.done;
  }

  /** The agent has room, or is new, or has changed: whatever waits for one like it is looked at. */
  wakeFor(entry: ReachEntry): void {
    if (this.backlog.size === 0) return;
    for (const need of needsOf(entry)) for (const lane of this.backlogByNeed.get(need) ?? []) this.wake(lane);
  }

  wakeAll(): void {
    for (const lane of this.backlog.keys()) this.wake(lane);
  }

  /** No new passes; resolves when those under way are over. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const timer of this.retries.values()) clearTimeout(timer);
    await Promise.all([...this.passes.values()].map((pass) => pass.done));
  }

  private async run(lane: string, pass: Pass): Promise<number> {
    const requirement = requirementOf(lane);
    let placed = 0;
    clearTimeout(this.retries.get(lane));
    this.retries.delete(lane);
    await this.enter();
    try {
      do {
        // However many wake a lane in one turn of the event loop (a thousand breakers, a fleet that changes), they are one
        // reason to look, and a pass that finds nobody waits for nothing else that would let others have a turn.
        await nextTurn();
        pass.again = false;
        const result = await this.placement.place(lane, requirement);
        placed += result.placed;
        this.failures.delete(lane);
        this.note(lane, requirement, result.left);
      } while (pass.again && !this.stopped);
    } catch (err) {
      this.note(lane, requirement, true);
      this.failures.set(lane, reasonOf(err));
      this.report('lanes cannot be placed; they are tried again and again', err);
      this.retries.set(lane, setTimeout(() => this.wake(lane), RETRY_AFTER_ERROR_MS).unref());
    } finally {
      this.passes.delete(lane);
      this.leave();
    }
    return placed;
  }

  private async enter(): Promise<void> {
    if (this.busy < PARALLEL_PASSES) {
      this.busy++;
      return;
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.busy--;
    else next();
  }

  private note(lane: string, requirement: Requirement, left: boolean): void {
    if (left === this.backlog.has(lane)) return;
    const need = needOf(requirement);
    if (left) {
      this.backlog.set(lane, requirement);
      const lanes = this.backlogByNeed.get(need);
      if (lanes === undefined) this.backlogByNeed.set(need, new Set([lane]));
      else lanes.add(lane);
      return;
    }
    this.backlog.delete(lane);
    const lanes = this.backlogByNeed.get(need);
    lanes?.delete(lane);
    if (lanes?.size === 0) this.backlogByNeed.delete(need);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof CoordinatorUnavailable) return `Redis cannot be used (${error.reason})`;
  return (error as Error).message;
}

const capabilityKey = (namespace: string, name: string): string => `c\u0000${agentKey(namespace, name)}`;
const agentNeedKey = (namespace: string, id: string): string => `a\u0000${agentKey(namespace, id)}`;
const nameKey = (namespace: string, name: string): string => `n\u0000${agentKey(namespace, name)}`;

/** The one key under which a lane's wish is filed. */
function needOf(r: Requirement): string {
  if (r.agentId !== undefined) return agentNeedKey(r.namespace, r.agentId);
  if (r.name !== undefined) return nameKey(r.namespace, r.name);
  return capabilityKey(r.namespace, r.capabilities[0]?.name ?? '');
}

/** Every key under which a lane that this agent could serve may be filed. */
function* needsOf(entry: ReachEntry): Iterable<string> {
  yield agentNeedKey(entry.namespace, entry.agentId);
  yield nameKey(entry.namespace, entry.name);
  for (const name of entry.capabilities.keys()) yield capabilityKey(entry.namespace, name);
}
