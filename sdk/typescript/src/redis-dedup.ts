import { randomUUID } from 'node:crypto';
import {
  MAX_KEPT_CHARACTERS,
  type Claim,
  type DedupDelivery,
  type DedupStore,
  type WorkEnd,
} from './dedup.js';
import { BEGIN, END, RENEW } from './redis-dedup-scripts.js';

/**
 * A connection to Redis of yours: an ioredis client (`call`), a node-redis client (`sendCommand`), or a function
 * that sends one command. It should give up on commands by itself when Redis is away.
 */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> }
  | ((args: string[]) => Promise<unknown>);

export interface RedisDedupOptions {
  client: RedisClient;
  /** Before every key; default `reach:dedup:`. Agents that share it share what they handled. */
  prefix?: string;
  /** How long a task is remembered, in milliseconds; default one day. Above the longest redispatch of yours. */
  retentionMs?: number;
  /** A holder that is not heard of for so long is taken for dead; default 30 s, renewed at a third of it. */
  holdMs?: number;
}

const DAY_MS = 86_400_000;
const HOLD_MS = 30_000;

/** What several agents have handled, in one Redis (5 or newer; a cluster, too). */
export class RedisDedup implements DedupStore {
  private readonly send: (args: string[]) => Promise<unknown>;
  private readonly prefix: string;
  private readonly retentionMs: string;
  private readonly holdMs: number;
  /** This process among those that share the keys. */
  private readonly owner = randomUUID();
  private readonly held = new Map<string, DedupDelivery>();
  private renewal: NodeJS.Timeout | undefined;

  /** @throws TypeError for a client that can send nothing */
  constructor(options: RedisDedupOptions) {
    this.send = senderOf(options.client);
    this.prefix = options.prefix ?? 'reach:dedup:';
    this.retentionMs = String(options.retentionMs ?? DAY_MS);
    this.holdMs = options.holdMs ?? HOLD_MS;
  }

  async begin(delivery: DedupDelivery): Promise<Claim> {
    const { fence, idempotent, taskId } = delivery;
    const may = idempotent ? '1' : '0';
    const answer = await this.run(BEGIN, taskId, fence, String(this.holdMs), this.retentionMs, may);
    const [kind, result] = answer as [Claim['kind'], string?];
    if (kind === 'done') return { kind, result: result ?? '' };
    if (kind === 'run') this.hold(delivery);
    return { kind };
  }

  async end(delivery: DedupDelivery, end: WorkEnd): Promise<void> {
    this.drop(delivery);
    const keeps = end.kind === 'done' && end.result.length <= MAX_KEPT_CHARACTERS;
    // Finished, and nobody can answer with what came out of it.
    const state = end.kind === 'done' && !keeps ? 'unknown' : end.kind;
    const result = keeps ? end.result : '';
    try {
      await this.run(END, delivery.taskId, delivery.fence, state, result, this.retentionMs);
    } finally {
      // A `begin` that nobody waited for any more may have been answered meanwhile.
      this.drop(delivery);
    }
  }

  /** Kept all the same until its time is over: an older push may still be on its way. */
  counted(): void {
    return undefined;
  }

  private run(script: string, taskId: string, fence: number, ...more: string[]): Promise<unknown> {
    // One hash tag, so that both lie in one slot of a cluster.
    const key = `${this.prefix}{${taskId}}`;
    return this.send(['EVAL', script, '2', key, `${key}:hold`, String(fence), this.owner, ...more]);
  }

  private hold(delivery: DedupDelivery): void {
    this.held.set(delivery.taskId, delivery);
    if (this.renewal !== undefined) return;
    this.renewal = setInterval(() => this.renew(), this.holdMs / 3);
    this.renewal.unref();
  }

  private drop(delivery: DedupDelivery): void {
    if (this.held.get(delivery.taskId)?.fence === delivery.fence) this.held.delete(delivery.taskId);
    if (this.held.size > 0) return;
    clearInterval(this.renewal);
    this.renewal = undefined;
  }

  private renew(): void {
    for (const { taskId, fence } of this.held.values()) {
      // Redis away: the hold lapses, which lets an idempotent task go on elsewhere and no other.
      this.run(RENEW, taskId, fence, String(this.holdMs)).catch(() => undefined);
    }
  }
}

function senderOf(client: RedisClient): (args: string[]) => Promise<unknown> {
  if (typeof client === 'function') return client;
  // ioredis has a `sendCommand` too, which takes something else.
  if ('call' in client) return ([command = '', ...args]) => client.call(command, ...args);
  if ('sendCommand' in client) return (args) => client.sendCommand(args);
  throw new TypeError('the Redis client has neither call (ioredis) nor sendCommand (node-redis)');
}
