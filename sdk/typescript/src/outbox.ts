import { ReachApiError } from './errors.js';
import { fullJitterMs } from './backoff.js';
import { type Link } from './link.js';
import { type OperationAnswer } from './wire.js';

/*
 * Design note. Everything an agent says about deliveries goes through here. What is ready in one turn of
 * the event loop leaves as one frame. An operation stays until it has a definite answer: after a broken
 * connection it is sent again (an ACK is asked again, a result is idempotent for its delivery), after an
 * answer like REACH_UNAVAILABLE too, a little later. A frame that the centre refuses as a whole is cut into
 * single operations, sent one after the other, so that one bad result cannot hold back the others. (One at a
 * time, because a centre that could not read a frame cannot say which one it was.)
 */

export type OperationKind = 'ack' | 'progress' | 'complete' | 'fail';

/** How an operation ended: an answer of the centre, a refusal of its form, or (progress only) lost on the way. */
export type Settlement =
  | { kind: 'answer'; answer: OperationAnswer }
  | { kind: 'refused'; code: string; detail: string }
  | { kind: 'lost' };

export interface PendingOperation {
  readonly op: OperationKind;
  /** The operation as JSON. */
  readonly json: string;
  /** Called once. */
  readonly settle: (settlement: Settlement) => void;
  tries: number;
  /** Goes in a frame of its own, with no other under way, since it was part of a frame that was refused. */
  alone: boolean;
}

const MAX_OPERATIONS_PER_FRAME = 500;
const MAX_FRAME_CHARACTERS = 512 * 1024;
const RETRY_BASE_MS = 200;
const RETRY_CAP_MS = 5000;
/** REACH_INTERNAL may be caused by the operation itself; it is given up after so many tries. */
const MAX_INTERNAL_TRIES = 12;

/** Whether an answer says "not now" about one operation. */
function isForLater(code: string, tries: number): boolean {
  if (code === 'REACH_INTERNAL') return tries < MAX_INTERNAL_TRIES;
  return code === 'REACH_UNAVAILABLE' || code === 'REACH_RATE_LIMITED';
}

const isLeaseRefusal = (code: string) => code === 'REACH_LEASE_EXPIRED' || code === 'REACH_LEASE_SUPERSEDED';

export class Outbox {
  private waiting: PendingOperation[] = [];
  private readonly later: PendingOperation[] = [];
  private laterTimer: NodeJS.Timeout | undefined;
  private link: Link | undefined;
  private framesInFlight = 0;
  /** The frame under way is a suspect, sent alone. */
  private exclusive = false;
  private open = 0;
  private flushPlanned = false;
  private idleWaiters: (() => void)[] = [];
  private frameTooLarge = false;

  /** @param whenLeaseRefused told when a whole frame is refused because of the lease */
  constructor(private readonly whenLeaseRefused: (code: string) => void) {}

  /** Operations without a definite answer. */
  get size(): number {
    return this.open;
  }

  /** A link is there. */
  get attached(): boolean {
    return this.link !== undefined;
  }

  /** Queues an operation; it leaves in this turn of the event loop if a link is there. */
  push(op: OperationKind, json: string, settle: (settlement: Settlement) => void): void {
    this.open += 1;
    this.waiting.push({ op, json, settle, tries: 0, alone: false });
    this.planFlush();
  }

  /** A connection is there and its lease is good: send what waits. */
  attach(link: Link): void {
    this.link = link;
    this.framesInFlight = 0;
    this.exclusive = false;
    this.planFlush();
  }

  /** @param frameTooLarge the centre closed the connection because of the size of a frame */
  detach(frameTooLarge = false): void {
    this.link = undefined;
    this.frameTooLarge = frameTooLarge;
  }

  /** Resolves when every operation has its answer. */
  idle(): Promise<void> {
    if (this.open === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** Forgets everything; for an agent that stops for good. */
  clear(): void {
    clearTimeout(this.laterTimer);
    this.laterTimer = undefined;
    const dropped = [...this.waiting.splice(0), ...this.later.splice(0)];
    for (const operation of dropped) this.finish(operation, { kind: 'lost' });
  }

  private planFlush(): void {
    if (this.flushPlanned || !this.link || this.waiting.length === 0) return;
    this.flushPlanned = true;
    setImmediate(() => {
      this.flushPlanned = false;
      this.flush();
    });
  }

  private flush(): void {
    const link = this.link;
    while (link && this.mayStart(link)) void this.send(link, this.nextFrame());
  }

  private mayStart(link: Link): boolean {
    const next = this.waiting[0];
    if (!next || this.exclusive || this.framesInFlight >= link.maxInFlight) return false;
    return !next.alone || this.framesInFlight === 0;
  }

  private nextFrame(): PendingOperation[] {
    let count = 0;
    let characters = 0;
    for (const operation of this.waiting) {
      if (count > 0 && (operation.alone || characters + operation.json.length > MAX_FRAME_CHARACTERS)) break;
      count += 1;
      characters += operation.json.length;
      if (operation.alone || count === MAX_OPERATIONS_PER_FRAME) break;
    }
    return this.waiting.splice(0, count);
  }

  private async send(link: Link, frame: PendingOperation[]): Promise<void> {
    this.framesInFlight += 1;
    this.exclusive = frame[0]?.alone === true;
    try {
      const answers = await link.operations(frame.map((operation) => operation.json));
      frame.forEach((operation, i) => this.answered(operation, answers[i]));
    } catch (error) {
      this.frameFailed(frame, error);
    }
    // A frame of an earlier link must not count against the present one.
    if (this.link === link) {
      this.framesInFlight -= 1;
      this.exclusive = false;
    }
    this.planFlush();
  }

  private answered(operation: PendingOperation, answer: OperationAnswer | undefined): void {
    if (!answer) return this.sendLater(operation);
    const code = answer.error?.code;
    if (code !== undefined && isForLater(code, operation.tries)) return this.sendLater(operation);
    // An answer about one delivery says nothing about the lease, not even REACH_LEASE_SUPERSEDED: that
    // delivery belongs to an earlier one.
    this.finish(operation, { kind: 'answer', answer });
  }

  private frameFailed(frame: PendingOperation[], error: unknown): void {
    const refusal = this.refusalOf(error);
    if (!refusal) {
      this.returnToFront(frame);
      return;
    }
    if (isLeaseRefusal(refusal.code)) {
      // The outcomes are kept: under a new lease the centre decides about each of them.
      this.link = undefined;
      this.returnToFront(frame);
      this.whenLeaseRefused(refusal.code);
      return;
    }
    if (refusal.retryable) {
      for (const operation of frame) this.sendLater(operation);
      return;
    }
    const [first] = frame;
    if (first?.alone)
      return this.finish(first, { kind: 'refused', code: refusal.code, detail: refusal.detail });
    for (const operation of frame) operation.alone = true;
    this.waiting.unshift(...frame);
  }

  private refusalOf(error: unknown): { code: string; detail: string; retryable: boolean } | undefined {
    if (error instanceof ReachApiError) return error;
    if (!this.frameTooLarge) return undefined;
    return {
      code: 'REACH_PAYLOAD_TOO_LARGE',
      detail: 'the frame was larger than the centre takes',
      retryable: false,
    };
  }

  /** After a broken connection. Progress is not kept here: by then there may be newer, or none may be wanted. */
  private returnToFront(frame: PendingOperation[]): void {
    const again: PendingOperation[] = [];
    for (const operation of frame) {
      if (operation.op === 'progress') this.finish(operation, { kind: 'lost' });
      else again.push(operation);
    }
    this.waiting.unshift(...again);
  }

  private sendLater(operation: PendingOperation): void {
    operation.tries += 1;
    this.later.push(operation);
    this.laterTimer ??= setTimeout(
      () => {
        this.laterTimer = undefined;
        this.waiting.push(...this.later.splice(0));
        this.planFlush();
      },
      RETRY_BASE_MS + fullJitterMs(operation.tries, RETRY_BASE_MS, RETRY_CAP_MS, Math.random()),
    );
  }

  private finish(operation: PendingOperation, settlement: Settlement): void {
    this.open -= 1;
    operation.settle(settlement);
    if (this.open === 0) for (const waiter of this.idleWaiters.splice(0)) waiter();
  }
}
