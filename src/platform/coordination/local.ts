import { type BucketGrant, type BucketLevel, type BucketRule, takeTokens } from '../../core/token-bucket.js';
import {
  CoordinatorUnavailable,
  IDLE_TTL_MS,
  requireBucket,
  requireIds,
  requireWhole,
  type Coordinator,
  type CounterGrant,
  type CounterReading,
  type ErrorReporter,
  type HeldSlot,
  type MessageHandler,
  type Unknown,
  type Unsubscribe,
} from './coordinator.js';
import { ExpiringMap } from './expiring-map.js';
import { HandlerSet } from './handler-set.js';

export type LocalCoordinatorOptions = {
  /** Monotonic milliseconds. */
  clock: () => number;
  report?: ErrorReporter;
};

/**
 * The coordinator of a single process. Each method does its work before it first awaits, which makes it
 * atomic: JavaScript runs one thing at a time. Nothing survives the process, so a restart finds every
 * counter unknown, as after the loss of Redis.
 */
export class LocalCoordinator implements Coordinator {
  private readonly values: ExpiringMap<string>;
  private readonly counters: ExpiringMap<CounterReading>;
  private readonly slots: ExpiringMap<Map<string, number>>;
  private readonly inboxes: ExpiringMap<string[]>;
  private readonly buckets: ExpiringMap<BucketLevel>;
  private readonly subscribers: HandlerSet;
  private readonly clock: () => number;
  // One sequence for all counters: a version can then never be met again, whatever is forgotten in between.
  private lastVersion = 0;
  private closed = false;

  constructor(options: LocalCoordinatorOptions) {
    this.clock = options.clock;
    this.values = new ExpiringMap(this.clock);
    this.counters = new ExpiringMap(this.clock);
    this.slots = new ExpiringMap(this.clock);
    this.inboxes = new ExpiringMap(this.clock);
    this.buckets = new ExpiringMap(this.clock);
    this.subscribers = new HandlerSet(options.report ?? (() => undefined));
  }

  async setIfAbsent(key: string, value: string, ttlMs: number): Promise<string | null> {
    this.assertOpen('setIfAbsent');
    requireWhole('ttlMs', ttlMs, 1);
    const present = this.values.get(key);
    if (present !== undefined) return present;
    this.values.set(key, value, ttlMs);
    return null;
  }

  async get(key: string): Promise<string | null> {
    this.assertOpen('get');
    return this.values.get(key) ?? null;
  }

  async remove(key: string, onlyIfValue?: string): Promise<boolean> {
    this.assertOpen('remove');
    if (onlyIfValue !== undefined && this.values.get(key) !== onlyIfValue) return false;
    return this.values.delete(key);
  }

  async counterReserve(key: string, wanted: number, limit: number): Promise<CounterGrant | Unknown> {
    this.assertOpen('counterReserve');
    requireWhole('wanted', wanted, 0);
    requireWhole('limit', limit, 0);
    const counter = this.counters.get(key);
    if (counter === undefined) return 'unknown';
    const granted = Math.max(0, Math.min(wanted, limit - counter.value));
    if (granted > 0) this.setCounter(key, counter.value + granted);
    return { granted, value: counter.value + granted };
  }

  async counterAdd(key: string, delta: number): Promise<void> {
    this.assertOpen('counterAdd');
    requireWhole('delta', delta, Number.MIN_SAFE_INTEGER);
    const counter = this.counters.get(key);
    if (counter === undefined) return;
    this.setCounter(key, Math.max(0, counter.value + delta));
  }

  async counterSeed(key: string, value: number): Promise<boolean> {
    this.assertOpen('counterSeed');
    requireWhole('value', value, 0);
    if (this.counters.get(key) !== undefined) return false;
    this.setCounter(key, value);
    return true;
  }

  async counterRead(key: string): Promise<CounterReading | Unknown> {
    this.assertOpen('counterRead');
    const counter = this.counters.get(key);
    return counter === undefined ? 'unknown' : { ...counter };
  }

  async counterCorrect(key: string, value: number, version: number): Promise<boolean> {
    this.assertOpen('counterCorrect');
    requireWhole('value', value, 0);
    if (this.counters.get(key)?.version !== version) return false;
    this.setCounter(key, value);
    return true;
  }

  async slotsReserve(
    agentKey: string,
    deliveryIds: readonly string[],
    limit: number,
  ): Promise<number | Unknown> {
    this.assertOpen('slotsReserve');
    requireWhole('limit', limit, 0);
    requireIds(deliveryIds);
    const held = this.slots.get(agentKey);
    if (held === undefined) return 'unknown';
    this.slots.set(agentKey, held, IDLE_TTL_MS);
    const nowMs = this.clock();
    let granted = 0;
    for (const id of deliveryIds) {
      if (!held.has(id)) {
        if (held.size >= limit) break;
        held.set(id, nowMs);
      }
      granted++;
    }
    return granted;
  }

  async slotsRelease(agentKey: string, deliveryIds: readonly string[]): Promise<void> {
    this.assertOpen('slotsRelease');
    requireIds(deliveryIds);
    const held = this.slots.get(agentKey);
    if (held === undefined) return;
    for (const id of deliveryIds) held.delete(id);
    this.slots.set(agentKey, held, IDLE_TTL_MS);
  }

  async slotsSeed(agentKey: string, deliveryIds: readonly string[]): Promise<boolean> {
    this.assertOpen('slotsSeed');
    requireIds(deliveryIds);
    if (this.slots.get(agentKey) !== undefined) return false;
    const nowMs = this.clock();
    this.slots.set(agentKey, new Map(deliveryIds.map((id) => [id, nowMs])), IDLE_TTL_MS);
    return true;
  }

  async slotsList(agentKey: string): Promise<HeldSlot[] | Unknown> {
    this.assertOpen('slotsList');
    const held = this.slots.get(agentKey);
    if (held === undefined) return 'unknown';
    const nowMs = this.clock();
    return [...held].map(([id, sinceMs]) => ({ id, ageMs: nowMs - sinceMs }));
  }

  async inboxPush(agentKey: string, items: readonly string[], limit: number): Promise<number> {
    this.assertOpen('inboxPush');
    requireWhole('limit', limit, 0);
    const inbox = this.inboxes.get(agentKey) ?? [];
    const taken = items.slice(0, Math.max(0, limit - inbox.length));
    if (taken.length > 0) this.keepInbox(agentKey, [...inbox, ...taken]);
    return taken.length;
  }

  async inboxPop(agentKey: string, max: number): Promise<string[]> {
    this.assertOpen('inboxPop');
    requireWhole('max', max, 0);
    const inbox = this.inboxes.get(agentKey) ?? [];
    const popped = inbox.slice(0, max);
    if (popped.length > 0) this.keepInbox(agentKey, inbox.slice(popped.length));
    return popped;
  }

  async inboxRemove(agentKey: string, items: readonly string[]): Promise<void> {
    this.assertOpen('inboxRemove');
    const inbox = this.inboxes.get(agentKey);
    if (inbox === undefined) return;
    const unwanted = new Set(items);
    this.keepInbox(
      agentKey,
      inbox.filter((item) => !unwanted.has(item)),
    );
  }

  async bucketTake(key: string, wanted: number, rule: BucketRule): Promise<BucketGrant> {
    this.assertOpen('bucketTake');
    requireWhole('wanted', wanted, 0);
    requireBucket(rule);
    const { level, ...grant } = takeTokens(this.buckets.get(key), wanted, rule, this.clock());
    // Full again by then, which is what unknown means.
    this.buckets.set(key, level, ((rule.capacity - level.tokens) / rule.perSecond) * 1000 + 1000);
    return grant;
  }

  async publish(channel: string, message: string): Promise<void> {
    this.assertOpen('publish');
    // Never inside the publisher's own call stack: over Redis a message does not arrive there either.
    queueMicrotask(() => this.subscribers.deliver(channel, message));
  }

  async subscribe(channel: string, handler: MessageHandler): Promise<Unsubscribe> {
    this.assertOpen('subscribe');
    const remove = this.subscribers.add(channel, handler);
    return async () => {
      remove();
    };
  }

  /** The state lives as long as the process, so there is no loss to announce. */
  onLost(): void {}

  available(): boolean {
    return !this.closed;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.subscribers.clear();
    for (const map of [this.values, this.counters, this.slots, this.inboxes, this.buckets]) map.clear();
  }

  private setCounter(key: string, value: number): void {
    this.counters.set(key, { value, version: ++this.lastVersion }, IDLE_TTL_MS);
  }

  private keepInbox(agentKey: string, items: string[]): void {
    if (items.length === 0) this.inboxes.delete(agentKey);
    else this.inboxes.set(agentKey, items, IDLE_TTL_MS);
  }

  private assertOpen(operation: string): void {
    if (this.closed) throw new CoordinatorUnavailable(operation, 'closed');
  }
}
