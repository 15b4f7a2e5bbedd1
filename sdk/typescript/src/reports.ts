import { waitAtMost } from './backoff.js';
import { type Progress } from './context.js';
import { type Once } from './once.js';
import { type Outbox, type Settlement } from './outbox.js';
import { completeOperation, cut, failOperation, type Failure } from './outcome.js';
import { type Work } from './work.js';

export interface ReportDeps {
  outbox: Outbox;
  /** Hears how the work ended. */
  once: Once;
  /** Longest wait for the answer to progress. */
  answerTimeoutMs: number;
  /** The delivery has its definite answer, or none is wanted. */
  finished: (work: Work) => void;
  /** The centre says that the running delivery is no longer the agent's. */
  lost: (work: Work, code: string) => void;
  /** The centre did not count something that was said about a delivery. */
  dropped: (deliveryId: string, code: string) => void;
}

/** Answers that say: the delivery is not yours any more. */
const LOST: ReadonlySet<string> = new Set([
  'REACH_DELIVERY_SUPERSEDED',
  'REACH_CANCELED',
  'REACH_LEASE_SUPERSEDED',
  'REACH_LEASE_EXPIRED',
  'REACH_NOT_FOUND',
]);
/** Answers about the form of an operation: sent again, it would be refused again. */
const MALFORMED: ReadonlySet<string> = new Set(['REACH_PAYLOAD_TOO_LARGE', 'REACH_VALIDATION_FAILED']);
const MAX_NOTE = 2000;
const MAX_PLAIN_MESSAGE = 1000;
const WEEK_MS = 604_800_000;

/** What is said about deliveries once their work has begun: progress, results, failures. */
export class Reports {
  /** Progress that could not be sent, one report a delivery however often the handler reports. */
  private readonly unsent = new Map<Work, Progress>();

  constructor(private readonly deps: ReportDeps) {}

  /** Reports the kept result of a task that was completed before. */
  again(work: Work, result: string): void {
    if (work.stale) return this.deps.finished(work);
    this.complete(work, result);
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
    // Where the centre does not count it: should the task come back, it need not run again.
    this.deps.once.ended(work, { kind: 'done', result });
    if (!work.stale) return this.complete(work, result);
    this.deps.finished(work);
  }

  /** Reports a failure; one that the centre cannot take as it is, once more without its evidence. */
  failure(work: Work, failure: Failure): void {
    this.sendFailure(work, failure, (refusal) => {
      const message = `${cut(failure.message, MAX_PLAIN_MESSAGE)} (the centre refused the whole report: ${refusal})`;
      const { code, retryable } = failure;
      this.sendFailure(work, { code, message, retryable }, undefined);
    });
  }

  private sendFailure(
    work: Work,
    failure: Failure,
    malformed: ((refusal: string) => void) | undefined,
  ): void {
    this.unsent.delete(work);
    if (work.begun) this.deps.once.ended(work, { kind: work.stale ? 'unknown' : 'released' });
    if (work.stale) return this.deps.finished(work);
    work.phase = 'reporting';
    const json = JSON.stringify(failOperation(work.offer.delivery_id, failure));
    this.deps.outbox.push('fail', json, (settlement) => {
      const refusal = malformedBy(settlement);
      if (refusal && malformed) return malformed(`${refusal.code}: ${refusal.detail}`);
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
    const { deadline, token, error } = settlement.answer;
    if (deadline !== undefined) work.context?.moveDeadline(new Date(deadline), token);
    // A push is running here before the centre has noted its ACK; only a heartbeat can tell of its loss.
    if (error && !work.pushed && LOST.has(error.code)) this.deps.lost(work, error.code);
  }

  private complete(work: Work, result: string): void {
    work.phase = 'reporting';
    const json = `{"op":"complete","delivery_id":${JSON.stringify(work.offer.delivery_id)},${result}}`;
    this.deps.outbox.push('complete', json, (settlement) => {
      const refusal = malformedBy(settlement);
      // Left alone, the task would run into its deadline, and nobody would learn why.
      if (refusal) return this.failure(work, unreportable(refusal));
      this.deps.finished(work);
      const code = refusalOf(settlement);
      if (code === undefined) return this.deps.once.counted(work);
      this.deps.dropped(work.offer.delivery_id, code);
    });
  }
}

/** What is wrong with the form of an operation; undefined: nothing. */
function malformedBy(settlement: Settlement): { code: string; detail: string } | undefined {
  if (settlement.kind === 'refused') return settlement;
  const error = settlement.kind === 'answer' ? settlement.answer.error : undefined;
  return error && MALFORMED.has(error.code) ? error : undefined;
}

/** The failure of work whose result the centre cannot take. */
function unreportable(refusal: { code: string; detail: string }): Failure {
  const tooLarge = refusal.code === 'REACH_PAYLOAD_TOO_LARGE' || refusal.code === 'HTTP_413';
  return {
    code: tooLarge ? 'PAYLOAD_TOO_LARGE' : 'AGENT_ERROR',
    message: `the centre refused the result: ${refusal.code}: ${refusal.detail}`,
    retryable: false,
  };
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
