import { randomUUID } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { bounded } from './bounded.js';
import { openCommandClient, openSingleUse } from './connections.js';
import { CoordinatorUnavailable, type ErrorReporter, type MessageHandler } from './coordinator.js';
import { EpochWatch } from './epoch-watch.js';
import { guardAgainstSilence } from './silence.js';
import { type RedisKeys } from './redis-keys.js';
import { refusalOf } from './redis-refusal.js';
import { RedisSubscriber } from './redis-subscriber.js';
import { type RedisNode, type RedisTarget } from './redis-url.js';
import { defineScripts } from './scripts.js';

export type RedisLinkOptions = {
  target: RedisTarget;
  /** A call that took longer has failed. */
  callTimeoutMs: number;
  /** How often epoch and connections are checked. */
  checkIntervalMs: number;
  report: ErrorReporter;
};

/** No check takes longer. */
const CHECK_TIMEOUT_MS = 1_000;

/**
 * The connections to Redis, and what is known about them: calls in bounded time, messages, and the news that
 * what was kept there is lost.
 */
export class RedisLink {
  private readonly client: Redis | Cluster;
  private readonly subscriber: RedisSubscriber;
  private readonly watch: EpochWatch;
  private readonly subscriberTimer: NodeJS.Timeout;
  private readonly stopGuard: () => void;
  private readonly lostHandlers: (() => void)[] = [];
  private readonly firstContact: Promise<unknown>;
  private refusal: string | undefined;
  private whenRefused: () => void = () => undefined;
  private closed = false;

  constructor(
    private readonly options: RedisLinkOptions,
    private readonly keys: RedisKeys,
  ) {
    this.client = openCommandClient(options.target);
    defineScripts(this.client);
    this.watch = new EpochWatch({
      readEpochs: () => this.readEpochs(),
      onLost: () => this.announceLoss(),
      report: options.report,
      intervalMs: options.checkIntervalMs,
    });
    this.subscriber = new RedisSubscriber({
      open: () => openSingleUse(options.target, this.pickNode()),
      prefix: keys.channelPrefix,
      timeoutMs: CHECK_TIMEOUT_MS,
      report: options.report,
      onGap: () => this.announceLoss(),
    });
    this.firstContact = Promise.all([this.listen(), this.subscriber.start()]);
    this.watch.start();
    this.subscriberTimer = setInterval(() => void this.subscriber.check(), options.checkIntervalMs).unref();
    this.stopGuard = guardAgainstSilence(this.client, options.checkIntervalMs, options.report);
  }

  /**
   * Waits until Redis can be used, at most `timeoutMs`; it is tried further after that.
   * @returns whether it can be used now; or why it answers, but refuses what the URL says
   */
  async waitUntilAvailable(timeoutMs: number): Promise<boolean | { refusal: string }> {
    const refused = new Promise<void>((resolve) => (this.whenRefused = resolve));
    if (this.refusal === undefined) {
      const either = Promise.race([this.firstContact, refused]);
      await bounded(either, timeoutMs, () => new Error('not yet')).catch(() => undefined);
    }
    return this.refusal === undefined ? this.available() : { refusal: this.refusal };
  }

  /** Whether calls have a chance: connected, and the last check succeeded. */
  available(): boolean {
    return !this.closed && this.client.status === 'ready' && this.watch.trusted;
  }

  /**
   * Runs a command.
   * @throws CoordinatorUnavailable at once while Redis is away, when it failed, and when it took too long
   */
  async call<T>(operation: string, command: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    if (!this.available())
      throw new CoordinatorUnavailable(operation, this.closed ? 'closed' : 'not connected');
    try {
      return await bounded(
        command(this.client),
        this.options.callTimeoutMs,
        () => new Error(`no answer within ${this.options.callTimeoutMs} ms`),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CoordinatorUnavailable(operation, reason, { cause: error });
    }
  }

  /** Hears a channel; see `Coordinator.subscribe`. */
  subscribe(channel: string, handler: MessageHandler): Promise<() => Promise<void>> {
    return this.subscriber.subscribe(channel, handler);
  }

  /** Adds a handler for the loss of what was kept; see `Coordinator.onLost`. */
  onLost(handler: () => void): void {
    this.lostHandlers.push(handler);
  }

  /** Disconnects for good, without waiting for anything. */
  close(): void {
    this.closed = true;
    clearInterval(this.subscriberTimer);
    this.stopGuard();
    this.watch.stop();
    this.subscriber.close();
    this.client.disconnect();
  }

  private listen(): Promise<void> {
    this.client.on('error', (error: Error) => {
      this.options.report('redis connection', error);
      this.refusal ??= refusalOf(error);
      if (this.refusal !== undefined) this.whenRefused();
    });
    this.client.on('close', () => this.watch.distrust());
    return new Promise((resolve) => {
      this.client.on('ready', () => {
        void this.watch.check().then(() => {
          if (this.watch.trusted) resolve();
        });
      });
    });
  }

  private readEpochs(): Promise<string>[] {
    const candidate = randomUUID();
    return this.keys
      .epochs(this.options.target.kind === 'cluster')
      .map((key) =>
        bounded(
          this.client.reachEpoch(key, candidate),
          CHECK_TIMEOUT_MS,
          () => new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`),
        ),
      );
  }

  private announceLoss(): void {
    if (this.closed) return;
    for (const handler of this.lostHandlers) {
      try {
        handler();
      } catch (error) {
        this.options.report('a handler of the loss of redis failed', error);
      }
    }
  }

  /** In a cluster: a node that is known now, else one of the URL; another one each time. */
  private pickNode(): RedisNode | undefined {
    if (this.options.target.kind !== 'cluster') return undefined;
    const known = this.client instanceof Cluster ? this.client.nodes('all') : [];
    const nodes = known.flatMap(({ options: { host, port } }) => (host && port ? [{ host, port }] : []));
    const candidates = nodes.length > 0 ? nodes : this.options.target.nodes;
    return candidates[Math.floor(Math.random() * candidates.length)];
  }
}
