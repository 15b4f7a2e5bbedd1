import type { BucketGrant, BucketRule } from '../../core/token-bucket.js';
import {
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
import { RedisKeys } from './redis-keys.js';
import { RedisLink } from './redis-link.js';
import { type RedisTarget } from './redis-url.js';

export type RedisCoordinatorOptions = {
  target: RedisTarget;
  /** First part of every key and channel; default `reach`. */
  keyPrefix?: string;
  /** A call that took longer has failed; default 1500. */
  callTimeoutMs?: number;
  /** How often the epoch and the connections are checked; default 1000. */
  checkIntervalMs?: number;
  report?: ErrorReporter;
};

/**
 * The coordinator that many replicas share. Each operation is one command or one script over one key; calls
 * made in the same turn of the event loop travel together (auto-pipelining).
 */
export class RedisCoordinator implements Coordinator {
  private readonly keys: RedisKeys;
  private readonly link: RedisLink;

  constructor(options: RedisCoordinatorOptions) {
    this.keys = new RedisKeys(options.keyPrefix ?? 'reach');
    this.link = new RedisLink(
      {
        target: options.target,
        callTimeoutMs: options.callTimeoutMs ?? 1_500,
        checkIntervalMs: options.checkIntervalMs ?? 1_000,
        report: options.report ?? (() => undefined),
      },
      this.keys,
    );
  }

  /**
   * Waits until Redis can be used, at most `timeoutMs`; connecting goes on after that.
   * @returns whether it can be used now; or why it answers, but refuses what the URL says
   */
  waitUntilAvailable(timeoutMs: number): Promise<boolean | { refusal: string }> {
    return this.link.waitUntilAvailable(timeoutMs);
  }

  async setIfAbsent(key: string, value: string, ttlMs: number): Promise<string | null> {
    requireWhole('ttlMs', ttlMs, 1);
    return this.link.call('setIfAbsent', (redis) =>
      redis.reachSetIfAbsent(this.keys.value(key), value, ttlMs),
    );
  }

  async get(key: string): Promise<string | null> {
    return this.link.call('get', (redis) => redis.get(this.keys.value(key)));
  }

  async remove(key: string, onlyIfValue?: string): Promise<boolean> {
    const name = this.keys.value(key);
    const removed = await this.link.call('remove', (redis) =>
      onlyIfValue === undefined ? redis.del(name) : redis.reachRemoveIf(name, onlyIfValue),
    );
    return removed === 1;
  }

  async counterReserve(key: string, wanted: number, limit: number): Promise<CounterGrant | Unknown> {
    requireWhole('wanted', wanted, 0);
    requireWhole('limit', limit, 0);
    const name = this.keys.counter(key);
    const grant = await this.link.call('counterReserve', (redis) =>
      redis.reachCounterReserve(name, wanted, limit, IDLE_TTL_MS),
    );
    return grant === null ? 'unknown' : { granted: grant[0], value: grant[1] };
  }

  async counterAdd(key: string, delta: number): Promise<void> {
    requireWhole('delta', delta, Number.MIN_SAFE_INTEGER);
    const name = this.keys.counter(key);
    await this.link.call('counterAdd', (redis) => redis.reachCounterAdd(name, delta, IDLE_TTL_MS));
  }

  async counterSeed(key: string, value: number): Promise<boolean> {
    requireWhole('value', value, 0);
    const name = this.keys.counter(key);
    const seeded = await this.link.call('counterSeed', (redis) =>
      redis.reachCounterSeed(name, value, IDLE_TTL_MS),
    );
    return seeded === 1;
  }

  async counterRead(key: string): Promise<CounterReading | Unknown> {
    const name = this.keys.counter(key);
    const [value, version] = await this.link.call('counterRead', (redis) => redis.hmget(name, 'v', 'n'));
    if (value == null || version == null) return 'unknown';
    return { value: Number(value), version: Number(version) };
  }

  async counterCorrect(key: string, value: number, version: number): Promise<boolean> {
    requireWhole('value', value, 0);
    const name = this.keys.counter(key);
    const corrected = await this.link.call('counterCorrect', (redis) =>
      redis.reachCounterCorrect(name, value, version, IDLE_TTL_MS),
    );
    return corrected === 1;
  }

  async slotsReserve(
    agentKey: string,
    deliveryIds: readonly string[],
    limit: number,
  ): Promise<number | Unknown> {
    requireWhole('limit', limit, 0);
    requireIds(deliveryIds);
    const name = this.keys.slots(agentKey);
    const granted = await this.link.call('slotsReserve', (redis) =>
      redis.reachSlotsReserve(name, limit, IDLE_TTL_MS, ...deliveryIds),
    );
    return granted ?? 'unknown';
  }

  async slotsRelease(agentKey: string, deliveryIds: readonly string[]): Promise<void> {
    requireIds(deliveryIds);
    const name = this.keys.slots(agentKey);
    await this.link.call('slotsRelease', (redis) =>
      redis.reachSlotsRelease(name, IDLE_TTL_MS, ...deliveryIds),
    );
  }

  async slotsSeed(agentKey: string, deliveryIds: readonly string[]): Promise<boolean> {
    requireIds(deliveryIds);
    const name = this.keys.slots(agentKey);
    const seeded = await this.link.call('slotsSeed', (redis) =>
      redis.reachSlotsSeed(name, IDLE_TTL_MS, ...deliveryIds),
    );
    return seeded === 1;
  }

  async slotsList(agentKey: string): Promise<HeldSlot[] | Unknown> {
    const listed = await this.link.call('slotsList', (redis) =>
      redis.reachSlotsList(this.keys.slots(agentKey)),
    );
    if (listed === null) return 'unknown';
    const held: HeldSlot[] = [];
    for (let i = 0; i < listed.length; i += 2) {
      held.push({ id: String(listed[i]), ageMs: Number(listed[i + 1]) });
    }
    return held;
  }

  async inboxPush(agentKey: string, items: readonly string[], limit: number): Promise<number> {
    requireWhole('limit', limit, 0);
    const name = this.keys.inbox(agentKey);
    return this.link.call('inboxPush', (redis) => redis.reachInboxPush(name, limit, IDLE_TTL_MS, ...items));
  }

  async inboxPop(agentKey: string, max: number): Promise<string[]> {
    requireWhole('max', max, 0);
    return this.link.call('inboxPop', (redis) => redis.reachInboxPop(this.keys.inbox(agentKey), max));
  }

  async inboxRemove(agentKey: string, items: readonly string[]): Promise<void> {
    const name = this.keys.inbox(agentKey);
    await this.link.call('inboxRemove', (redis) => redis.reachInboxRemove(name, ...items));
  }

  async bucketTake(key: string, wanted: number, rule: BucketRule): Promise<BucketGrant> {
    requireWhole('wanted', wanted, 0);
    requireBucket(rule);
    const { capacity, perSecond, overdraft = 0 } = rule;
    const name = this.keys.bucket(key);
    const [granted, owed] = await this.link.call('bucketTake', (redis) =>
      redis.reachBucketTake(name, wanted, capacity, perSecond, overdraft),
    );
    return { granted, owed };
  }

  async publish(channel: string, message: string): Promise<void> {
    const name = this.keys.channelPrefix + channel;
    await this.link.call('publish', (redis) => redis.publish(name, message));
  }

  async subscribe(channel: string, handler: MessageHandler): Promise<Unsubscribe> {
    return this.link.subscribe(channel, handler);
  }

  onLost(handler: () => void): void {
    this.link.onLost(handler);
  }

  available(): boolean {
    return this.link.available();
  }

  async close(): Promise<void> {
    this.link.close();
  }
}
