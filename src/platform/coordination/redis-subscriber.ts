import { type Redis } from 'ioredis';
import { bounded } from './bounded.js';
import { reconnectDelayMs } from './connections.js';
import { CoordinatorUnavailable, type ErrorReporter, type MessageHandler } from './coordinator.js';
import { HandlerSet } from './handler-set.js';

export type RedisSubscriberOptions = {
  /** Makes a new connection, not connected yet, that does not reconnect by itself. */
  open: () => Redis;
  /** Prepended to each channel's name on the wire. */
  prefix: string;
  timeoutMs: number;
  report: ErrorReporter;
  /** Messages may have been missed. */
  onGap: () => void;
};

/**
 * The connection that hears messages. It reconnects on its own instead of leaving that to ioredis, for two
 * reasons: it must know when every channel is subscribed again, and in a cluster the next attempt goes to
 * another node.
 */
export class RedisSubscriber {
  private readonly handlers: HandlerSet;
  /** Channels known to be subscribed on the present connection; undefined while there is none. */
  private live: { client: Redis; channels: Set<string> } | undefined;
  private attempts = 0;
  private retryTimer: NodeJS.Timeout | undefined;
  private connecting: Redis | undefined;
  /** Somebody relies on messages that this connection did not hear from the beginning. */
  private gapOpen = false;
  private closed = false;
  private firstAttempt: Promise<void> = Promise.resolve();
  /** Ends every wait at once when this is closed; else the process could not end before they do. */
  private endWaits = (): void => undefined;
  private readonly ended = new Promise<never>((_, reject) => {
    this.endWaits = () => reject(new Error('closed'));
  });

  constructor(private readonly options: RedisSubscriberOptions) {
    this.handlers = new HandlerSet(options.report);
    this.ended.catch(() => undefined);
  }

  /** Begins connecting; never rejects. Resolves after the first attempt, successful or not. */
  start(): Promise<void> {
    this.firstAttempt = this.connect();
    return this.firstAttempt;
  }

  /** Whether every subscribed channel is being heard. */
  get ready(): boolean {
    return this.live !== undefined;
  }

  /**
   * Adds a handler. While Redis is away it is kept and subscribed later, with `onGap` afterwards.
   * @returns the function that removes it
   */
  async subscribe(channel: string, handler: MessageHandler): Promise<() => Promise<void>> {
    if (this.closed) throw new CoordinatorUnavailable('subscribe', 'closed');
    const remove = this.handlers.add(channel, handler);
    await this.firstAttempt;
    const live = this.live;
    if (!live) {
      this.gapOpen = true;
    } else if (!live.channels.has(channel)) {
      try {
        await this.within(live.client.subscribe(this.options.prefix + channel));
        live.channels.add(channel);
      } catch (error) {
        this.gapOpen = true;
        this.drop(live.client, error);
      }
    }
    return async () => {
      remove();
      this.leave(channel);
    };
  }

  /** Proves that the connection is alive, else drops it, and then connects again. */
  async check(): Promise<void> {
    const live = this.live;
    if (!live) return;
    try {
      await this.within(live.client.ping());
    } catch (error) {
      this.drop(live.client, error);
    }
  }

  /** Disconnects for good. */
  close(): void {
    this.closed = true;
    this.endWaits();
    clearTimeout(this.retryTimer);
    this.handlers.clear();
    this.connecting?.disconnect();
    this.live?.client.disconnect();
    this.live = undefined;
  }

  private async connect(): Promise<void> {
    const client = this.options.open();
    this.connecting = client;
    // The failure shows in the promises below; without a listener the event alone would end the process.
    client.on('error', () => undefined);
    client.on('message', (channel: string, message: string) => {
      this.handlers.deliver(channel.slice(this.options.prefix.length), message);
    });
    try {
      await this.within(client.connect());
      const channels = await this.subscribeAll(client);
      if (this.closed || client.status !== 'ready') throw new Error('connection lost');
      client.once('end', () => this.lost(client));
      this.live = { client, channels };
      this.attempts = 0;
      if (this.gapOpen) this.options.onGap();
      this.gapOpen = false;
    } catch (error) {
      client.disconnect();
      this.retryLater(error);
    } finally {
      this.connecting = undefined;
    }
  }

  /** Subscribes all channels, those added while it is at it included. */
  private async subscribeAll(client: Redis): Promise<Set<string>> {
    const done = new Set<string>();
    for (;;) {
      const missing = this.handlers.channels.filter((channel) => !done.has(channel));
      if (missing.length === 0) return done;
      await this.within(client.subscribe(...missing.map((channel) => this.options.prefix + channel)));
      for (const channel of missing) done.add(channel);
    }
  }

  private leave(channel: string): void {
    if (!this.live || this.handlers.has(channel) || !this.live.channels.delete(channel)) return;
    // Failing to unsubscribe only means hearing messages that nobody handles.
    this.live.client.unsubscribe(this.options.prefix + channel).catch(() => undefined);
  }

  private drop(client: Redis, error: unknown): void {
    if (this.live?.client !== client) return;
    this.options.report('the subscriber connection does not answer', error);
    client.disconnect();
    this.lost(client);
  }

  private lost(client: Redis): void {
    if (this.live?.client !== client) return;
    this.live = undefined;
    this.gapOpen = true;
    this.retryLater(undefined);
  }

  private retryLater(error: unknown): void {
    if (this.closed) return;
    this.attempts++;
    if (this.attempts === 1 && error !== undefined) {
      this.options.report('the subscriber connection failed', error);
    }
    this.retryTimer = setTimeout(
      () => void this.connect(),
      reconnectDelayMs(this.attempts, Math.random()),
    ).unref();
  }

  private within<T>(promise: Promise<T>): Promise<T> {
    return bounded(
      Promise.race([promise, this.ended]),
      this.options.timeoutMs,
      () => new Error('no answer in time'),
    );
  }
}
