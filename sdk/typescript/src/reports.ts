import { waitAtMost } from './backoff.js';
import { type Progress } from './context.js';
import { RecentMap } from './memory.js';
import { type Outbox, type Settlement } from './outbox.js';
import { completeOperation, cut, failOperation, type Failure } from './outcome.js';
import { type Work } from './work.js';

export interface ReportDeps {
  outbox: Outbox;
  /** Longest wait for the answer to progress. */
  answerTimeoutMs: number;
  /** The delivery has its definite answer, or none is wanted. */
  finished: (work: Work) => void;
  /** The centre says that the running delivery is no longer the agent's. */
  lost: (work: Work, code: string) => void;
  /** The centre did not count something that was said about a delivery. */
  dropped: (deliveryId: string, code: string) => void;
}

const KEPT_OUTCOMES = 200;
/** Larger results are not kept: running the task again is cheaper than the memory. */
const MAX_KEPT_CHARACTERS = 256 * 1024;
/** Answers that say: the delivery is not yours any more. */
const LOST: ReadonlySet<string> = new Set([
  'REACH_DELIVERY_SUPERSEDED',
  'REACH_CANCELED',
  'REACH_LEASE_SUPERSEDED',
  'REACH_LEASE_EXPIRED',
  'REACH_NOT_FOUND',
]);
const MAX_NOTE = 2000;
const WEEK_MS = 604_800_000;

/** What is said about deliveries once their work has begun: progress, results, failures. */
export class Reports {
  /** Serialised results of tasks completed here that the centre did not count, by task. */
  private readonly kept = new RecentMap<string, string>(KEPT_OUTCOMES);
  /** Progress that could not be sent, one report a delivery however often the handler reports. */
  private readonly unsent = new Map<Work, Progress>();

  constructor(private readonly deps: ReportDeps) {}

  /**
   * Reports the kept result of a task that was completed here before.
   * @returns false: there is none
   */
  again(work: Work): boolean {
    const result = this.kept.get(work.offer.task_id);
    if (result !== undefined) this.complete(work, result);
    return result !== undefined;
  }

  success(work: Work, outputs: unknown): void {
    this.unsent.delete(work);
    let json: string;
    try {
      json = JSON.stringify(outputs ?? null) ?? 'null';
    } catch (error) {
      const message = `the handler returned what JSON cannot express: ${String(error)}`;
      return this.failure(work, { code: 'AGENT_ERROR', message, retryable: false });
    }
    const result = completeOperation(json, work.context?.meta);
    if (!work.stale) return this.complete(work, result);
    // Done all the same: should the task come back to this process, it need not run again.
    this.keep(work, result);
    this.deps.finished(work);
  }

  failure(work: Work, failure: Failure): void {
    this.unsent.delete(work);
    if (work.stale) return this.deps.finished(work);
    work.phase = 'reporting';
    const json = JSON.stringify(failOperation(work.offer.delivery_id, failure));
    this.deps.outbox.push('fail', json, (settlement) => {
      this.deps.finished(work);
      const code = refusalOf(settlement);
      if (code !== undefined) this.deps.dropped(work.offer.delivery_id, code);
    });
  }

  /**
   * Reports progress; the deadline of the answer goes to the work's context. Resolves with the answer, after
   * `answerTimeoutMs`, or at once while there is no link. Never rejects.
   */
  progress(work: Work, progress: Progress): Promise<void> {
    if (work.stale) return Promise.resolve();
    const report = { ...this.unsent.get(work), ...progress };
    this.unsent.delete(work);
    if (this.deps.outbox.attached)
      return waitAtMost(this.deps.answerTimeoutMs, this.sendProgress(work, report));
    this.unsent.set(work, report);
    return Promise.resolve();
  }

  /** A link is there: sends the progress that could not be sent before. */
  sendUnsent(): void {
    const reports = [...this.unsent];
    this.unsent.clear();
    for (const [work, report] of reports) if (!work.stale) void this.sendProgress(work, report);
  }

  private sendProgress(work: Work, progress: Progress): Promise<void> {
    const json = JSON.stringify({
      op: 'progress',
      delivery_id: work.offer.delivery_id,
      extend_ms: progress.extendMs === undefined ? undefined : extensionMs(progress.extendMs),
      note: progress.note === undefined ? undefined : cut(progress.note, MAX_NOTE),
    });
    return new Promise((resolve) => {
      this.deps.outbox.push('progress', json, (settlement) => {
        this.progressSettled(work, progress, settlement);
        resolve();
      });
    });
  }

  private progressSettled(work: Work, progress: Progress, settlement: Settlement): void {
    if (settlement.kind === 'lost' && work.phase === 'running') {
      // What was said in the meantime is newer.
      this.unsent.set(work, { ...progress, ...this.unsent.get(work) });
    }
    if (settlement.kind !== 'answer') return;
    const { deadline, error } = settlement.answer;
    if (deadline !== undefined) work.context?.moveDeadline(new Date(deadline));
    // A push is running here before the centre has noted its ACK; only a heartbeat can tell of its loss.
    if (error && !work.pushed && LOST.has(error.code)) this.deps.lost(work, error.code);
  }

  private complete(work: Work, result: string): void {
    work.phase = 'reporting';
    const json = `{"op":"complete","delivery_id":${JSON.stringify(work.offer.delivery_id)},${result}}`;
    this.deps.outbox.push('complete', json, (settlement) => {
      if (settlement.kind === 'refused') {
        const message = `the centre refused the result: ${settlement.code}: ${settlement.detail}`;
        return this.failure(work, { code: 'AGENT_ERROR', message, retryable: false });
      }
      this.deps.finished(work);
      const code = refusalOf(settlement);
      if (code === undefined) return this.kept.delete(work.offer.task_id);
      this.keep(work, result);
      this.deps.dropped(work.offer.delivery_id, code);
    });
  }

  private keep(work: Work, result: string): void {
    if (result.length <= MAX_KEPT_CHARACTERS) this.kept.set(work.offer.task_id, result);
  }
}

/** Within the bounds of the wire: a whole number of milliseconds, at most a week. */
function extensionMs(ms: number): number {
  return Math.min(WEEK_MS, Math.max(1, Math.round(ms) || 1));
}

/** Why an operation did not take effect; undefined: it did. */
export function refusalOf(settlement: Settlement): string | undefined {
  switch (settlement.kind) {
    case 'refused':
      return settlement.code;
    case 'lost':
      return 'lost';
    case 'answer':
      return (
        settlement.answer.error?.code ??
        (settlement.answer.execute === false ? settlement.answer.reason : undefined)
      );
  }
}
