import { RecentMap } from './memory.js';

/*
 * Design note. The centre's ACK lets one delivery of a task run; this is the other half, for what the ACK cannot see:
 * a push whose ACK got lost after the work began, and results that never reached the centre. The key of a task is
 * written before its handler starts, with the fence of the delivery. A newer delivery takes over from one whose
 * holder failed or died; an older one never does; a finished one is answered with its result.
 */

/** A delivery that asks to run, as a store sees it. */
export interface DedupDelivery {
  readonly taskId: string;
  /** Grows with each delivery of the task. */
  readonly fence: number;
  /** The caller said that running it twice is harmless. */
  readonly idempotent: boolean;
}

/**
 * What is known of a task when one of its deliveries asks to run.
 * - `run`: the key is this delivery's now; start.
 * - `done`: it was finished before, with this result (the serialised fields of a `complete` operation).
 * - `superseded`: another process has this delivery, or somebody has a newer one.
 * - `busy`: an earlier delivery, not idempotent, still runs; ask again.
 * - `unknown`: an earlier delivery, not idempotent, began and nobody can tell how far it came.
 */
export type Claim =
  { kind: 'run' } | { kind: 'done'; result: string } | { kind: 'superseded' | 'busy' | 'unknown' };

/**
 * How the work of a delivery ended: with a result; `released`: it failed, and its failure is reported, so that the
 * centre decides about another attempt; `unknown`: it was told to stop and did not say how far it came.
 */
export type WorkEnd = { kind: 'done'; result: string } | { kind: 'released' | 'unknown' };

/**
 * Remembers the tasks that were handled. One store may be shared by many processes. Whatever waits must end within
 * a bound, by rejecting.
 */
export interface DedupStore {
  /** Asks to run a delivery, and takes the key of its task where that is granted: one step, whoever else asks. */
  begin(delivery: DedupDelivery): Claim | Promise<Claim>;
  /** The work ended. Changes nothing where the key is another delivery's by now. */
  end(delivery: DedupDelivery, end: WorkEnd): void | Promise<void>;
  /** The centre counted the result: it will not ask for it again. */
  counted(delivery: DedupDelivery): void | Promise<void>;
}

interface Entry {
  fence: number;
  state: 'running' | WorkEnd['kind'];
}

const KEPT_TASKS = 10_000;
const KEPT_RESULTS = 200;
/** Larger results are not kept: running the task again is cheaper than the memory. */
export const MAX_KEPT_CHARACTERS = 256 * 1024;

/** The store of one process, for as long as it lives: the youngest 10 000 tasks and 200 results not yet counted. */
export class MemoryDedup implements DedupStore {
  private readonly tasks = new RecentMap<string, Entry>(KEPT_TASKS);
  private readonly results = new RecentMap<string, string>(KEPT_RESULTS);

  begin({ taskId, fence, idempotent }: DedupDelivery): Claim {
    const known = this.tasks.get(taskId);
    const result = this.results.get(taskId);
    if (result !== undefined) return { kind: 'done', result };
    if (known !== undefined && known.fence > fence) return { kind: 'superseded' };
    if (known !== undefined && known.fence < fence && known.state !== 'released' && !idempotent)
      return { kind: known.state === 'running' ? 'busy' : 'unknown' };
    this.tasks.set(taskId, { fence, state: 'running' });
    return { kind: 'run' };
  }

  end({ taskId, fence }: DedupDelivery, end: WorkEnd): void {
    const known = this.tasks.get(taskId);
    if (known === undefined || known.fence !== fence) return;
    known.state = end.kind;
    if (end.kind !== 'done') this.results.delete(taskId);
    else if (end.result.length <= MAX_KEPT_CHARACTERS) this.results.set(taskId, end.result);
  }

  counted({ taskId }: DedupDelivery): void {
    this.results.delete(taskId);
  }
}
