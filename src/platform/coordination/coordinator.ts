import type { BucketGrant, BucketRule } from '../../core/token-bucket.js';

/**
 * The one seam between "one process" and "many replicas on Redis".
 *
 * Everything kept behind it may be lost at any moment and is rebuilt from Postgres: a counter or a slot set
 * that was never seeded, or was lost, says `'unknown'` instead of pretending to be 0, and `onLost` announces
 * a loss that no single key can show (an inbox that is gone looks exactly like an empty one).
 *
 * Promises every implementation keeps (test/contract/coordinator.contract.spec.ts):
 * - each call is atomic, also against calls from other replicas;
 * - each call settles within the call timeout (2 s unless configured); it never waits for a Redis that is away;
 * - a call rejects with `CoordinatorUnavailable` and nothing else, except for a `RangeError` when an argument
 *   makes no sense (a negative limit, a fraction, NaN, an empty id). After `CoordinatorUnavailable` the effect is uncertain:
 *   it may have happened. Every mutation is therefore safe to repeat or is corrected by a reconcile;
 * - keys are opaque: any string works, and two different strings are two different things.
 */
export interface Coordinator {
  /**
   * Sets `key` to `value` for `ttlMs` unless it is set already.
   * @returns null when this call set it, else the value that is present (its time to live is left alone).
   */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<string | null>;

  /** @returns the value set by `setIfAbsent`, or null when absent or expired. */
  get(key: string): Promise<string | null>;

  /**
   * Removes `key`; with `onlyIfValue`, only while it still holds that value (an owner removes only its own).
   * @returns whether something was removed.
   */
  remove(key: string, onlyIfValue?: string): Promise<boolean>;

  /**
   * Takes up to `wanted` units while the counter stays at or below `limit`: grants
   * `max(0, min(wanted, limit - value))`.
   * @returns the units granted and the value after the call.
   */
  counterReserve(key: string, wanted: number, limit: number): Promise<CounterGrant | Unknown>;

  /** Adds `delta` (may be negative). Never goes below 0; does nothing while the counter is unknown. */
  counterAdd(key: string, delta: number): Promise<void>;

  /**
   * Gives an unknown counter its value.
   * @returns false when it was known already; it is then left as it is.
   */
  counterSeed(key: string, value: number): Promise<boolean>;

  /**
   * Reads the counter. `version` rises with every grant, add and correction, and is not repeated after a
   * loss: a version read before is never valid again once anything has changed.
   */
  counterRead(key: string): Promise<CounterReading | Unknown>;

  /**
   * Sets the counter to the truth found elsewhere, unless it moved since `version` was read.
   * @returns whether it was corrected.
   */
  counterCorrect(key: string, value: number, version: number): Promise<boolean>;

  /**
   * Reserves one slot for each delivery id, in order, while the agent holds fewer than `limit`. An id that
   * holds a slot already counts as granted and keeps its time, so repeating a call is harmless.
   * @returns how many ids were granted: the first n of the list.
   */
  slotsReserve(agentKey: string, deliveryIds: readonly string[], limit: number): Promise<number | Unknown>;

  /** Frees the slots of these deliveries; ids that hold none are ignored. */
  slotsRelease(agentKey: string, deliveryIds: readonly string[]): Promise<void>;

  /**
   * Gives an unknown slot set its members (perhaps none: an empty set is known).
   * @returns false when it was known already; it is then left as it is.
   */
  slotsSeed(agentKey: string, deliveryIds: readonly string[]): Promise<boolean>;

  /** @returns the held slots with the time since each was reserved or seeded, in no promised order. */
  slotsList(agentKey: string): Promise<HeldSlot[] | Unknown>;

  /**
   * Appends items to the agent's inbox while it holds fewer than `limit`.
   * @returns how many were taken: the first n of the list.
   */
  inboxPush(agentKey: string, items: readonly string[], limit: number): Promise<number>;

  /** Hands out up to `max` of the oldest items; each item goes to exactly one caller. */
  inboxPop(agentKey: string, max: number): Promise<string[]>;

  /** Takes these items out of the inbox wherever they stand; absent ones are ignored. */
  inboxRemove(agentKey: string, items: readonly string[]): Promise<void>;

  /**
   * Takes up to `wanted` tokens of a bucket that refills at a steady rate, by the coordinator's clock; missing ones become a
   * debt as far as the rule allows. A bucket that nobody knows, or that was lost, is full.
   */
  bucketTake(key: string, wanted: number, rule: BucketRule): Promise<BucketGrant>;

  /** Sends a message to every subscriber of the channel, in this process too. Delivery is best effort. */
  publish(channel: string, message: string): Promise<void>;

  /**
   * Calls `handler` with each message of the channel until the returned function is called. Resolves once
   * messages published from now on will arrive. While Redis is away it resolves all the same: the wish
   * stands, and `onLost` tells when it came true, since messages were missed until then. What a handler
   * throws is reported and does no other harm.
   */
  subscribe(channel: string, handler: MessageHandler): Promise<Unsubscribe>;

  /**
   * Registers a handler for "what was kept here may be gone or stale, and messages may have been missed":
   * rebuild from Postgres. Called once or more per loss; not for the first connection, unless a subscription
   * had been waiting for it.
   */
  onLost(handler: () => void): void;

  /** False while the shared state is out of reach; calls then reject at once. */
  available(): boolean;

  /** Lets go of every connection and timer. Calls made afterwards reject. Repeating it is harmless. */
  close(): Promise<void>;
}

/** Never seeded, or lost: the caller seeds it from Postgres and tries again. */
export type Unknown = 'unknown';
export type CounterGrant = { granted: number; value: number };
export type CounterReading = { value: number; version: number };
export type HeldSlot = { id: string; ageMs: number };
export type MessageHandler = (message: string) => void;
export type Unsubscribe = () => Promise<void>;

/** Where an implementation reports what it cannot throw at anybody (a handler's error, a lost connection). */
export type ErrorReporter = (message: string, error: unknown) => void;

/** Nest token of the process's `Coordinator`. */
export const COORDINATOR = Symbol('COORDINATOR');

/**
 * Idle counters, slot sets and inboxes are forgotten after this long without a write, so that keys named
 * after lanes and agents that no longer exist do not pile up. Forgetting one only makes it unknown again.
 */
export const IDLE_TTL_MS = 7 * 24 * 60 * 60 * 1000;

/** The shared state is out of reach, or did not answer in time. The effect of the call is uncertain. */
export class CoordinatorUnavailable extends Error {
  override readonly name = 'CoordinatorUnavailable';

  constructor(
    operation: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`coordinator unavailable: ${operation}: ${reason}`, options);
  }
}

/** @throws RangeError unless `value` is a whole number of at least `min`. */
export function requireWhole(what: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new RangeError(`${what} must be a whole number of at least ${min}, not ${value}`);
  }
}

/** @throws RangeError unless the rule makes a bucket that fills. */
export function requireBucket({ capacity, perSecond, overdraft = 0 }: BucketRule): void {
  requireWhole('capacity', capacity, 1);
  requireWhole('overdraft', overdraft, 0);
  if (!Number.isFinite(perSecond) || perSecond <= 0)
    throw new RangeError(`perSecond must be a number above 0, not ${perSecond}`);
}

/** @throws RangeError when an id is empty: an id names something. */
export function requireIds(ids: readonly string[]): void {
  if (ids.includes('')) throw new RangeError('an id must not be empty');
}
