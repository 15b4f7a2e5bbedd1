import { pause } from './backoff.js';
import { type Claim, type DedupDelivery, type DedupStore, type WorkEnd } from './dedup.js';
import { type Logger } from './logger.js';
import { type Failure } from './outcome.js';
import { type Work } from './work.js';

/** What becomes of a delivery that may run as far as the centre is concerned. */
export type Permit =
  | { kind: 'run' }
  | { kind: 'done'; result: string }
  | { kind: 'dropped' }
  | { kind: 'refused'; failure: Failure };

const ANSWER_TIMEOUT_MS = 2000;
/** Between two looks at whether an earlier delivery has ended. */
const ASK_AGAIN_MS = 250;

/** Asks the store of handled tasks whether a delivery may run, and tells it how that ended. */
export class Once {
  private away = false;

  constructor(
    private readonly store: DedupStore,
    private readonly logger: Logger,
  ) {}

  /**
   * Whether `work` is to be run here; at once where the store answers at once. Never rejects: a store that is away
   * decides as `unasked` says.
   */
  permit(work: Work): Permit | Promise<Permit> {
    const delivery = deliveryOf(work);
    let claim: Claim | Promise<Claim>;
    try {
      claim = this.store.begin(delivery);
    } catch (error) {
      return this.unasked(work, error);
    }
    if (!(claim instanceof Promise) && claim.kind !== 'busy') return settled(claim);
    return this.decide(work, delivery, claim).catch((error: unknown) => this.unasked(work, error));
  }

  /** The work ended. Not waited for: whoever needs the result has it from the centre. */
  ended(work: Work, end: WorkEnd): void {
    this.tell(work, (delivery) => this.store.end(delivery, end));
  }

  /** The centre counted the result. */
  counted(work: Work): void {
    this.tell(work, (delivery) => this.store.counted(delivery));
  }

  private async decide(work: Work, delivery: DedupDelivery, first: Claim | Promise<Claim>): Promise<Permit> {
    let claim = await answered(first);
    while (claim.kind === 'busy' && !work.stale) {
      // The slot stays taken meanwhile; the centre's deadline bounds the wait.
      await pause(ASK_AGAIN_MS);
      claim = await answered(this.store.begin(delivery));
    }
    if (this.away) this.logger.warn('the store of handled tasks answers again');
    this.away = false;
    if (!work.stale) return settled(claim);
    if (claim.kind === 'run') this.ended(work, { kind: 'released' });
    return { kind: 'dropped' };
  }

  /**
   * Nobody knows whether the task was handled. What the centre let run by its ACK runs: no other delivery can. So
   * does what may run twice. A push that may not is declined, as its ACK may be lost and nothing has begun here.
   */
  private unasked(work: Work, error: unknown): Permit {
    if (!this.away) this.logger.warn('the store of handled tasks does not answer', { error: String(error) });
    this.away = true;
    if (work.stale) return { kind: 'dropped' };
    if (work.offer.idempotent || !work.pushed) return { kind: 'run' };
    // Should it have answered and the answer got lost, the key is free again.
    this.ended(work, { kind: 'released' });
    const message = `the store of handled tasks does not answer, and the task must not run twice: ${String(error)}`;
    return { kind: 'refused', failure: { code: 'AGENT_REFUSED', message } };
  }

  private tell(work: Work, say: (delivery: DedupDelivery) => void | Promise<void>): void {
    const failed = (error: unknown) =>
      this.logger.warn('the end of a task was not noted in the store of handled tasks', {
        task_id: work.offer.task_id,
        error: String(error),
      });
    try {
      say(deliveryOf(work))?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

function deliveryOf({ offer }: Work): DedupDelivery {
  return { taskId: offer.task_id, fence: offer.fence, idempotent: offer.idempotent };
}

function settled(claim: Claim): Permit {
  switch (claim.kind) {
    case 'run':
    case 'done':
      return claim;
    case 'superseded':
    case 'busy':
      return { kind: 'dropped' };
    case 'unknown': {
      const message =
        'an earlier delivery of this task began, and nobody knows how far it came; ' +
        'the task is not idempotent and is not run again';
      return { kind: 'refused', failure: { code: 'AGENT_ERROR', message, retryable: false } };
    }
  }
}

async function answered(claim: Claim | Promise<Claim>): Promise<Claim> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`)),
      ANSWER_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([claim, late]);
  } finally {
    clearTimeout(timer);
  }
}
