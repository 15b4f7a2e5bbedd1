import type { ErrorReporter, MessageHandler } from './coordinator.js';

/** The message handlers of this process, by channel. */
export class HandlerSet {
  private readonly byChannel = new Map<string, Set<MessageHandler>>();

  constructor(private readonly report: ErrorReporter) {}

  /** The channels that have at least one handler. */
  get channels(): string[] {
    return [...this.byChannel.keys()];
  }

  /** Whether the channel has a handler. */
  has(channel: string): boolean {
    return this.byChannel.has(channel);
  }

  /**
   * Adds a handler. Adding one function twice makes two subscriptions.
   * @returns the function that removes this one; calling it again does nothing.
   */
  add(channel: string, handler: MessageHandler): () => void {
    const own: MessageHandler = (message) => handler(message);
    const handlers = this.byChannel.get(channel) ?? new Set();
    handlers.add(own);
    this.byChannel.set(channel, handlers);
    return () => {
      handlers.delete(own);
      if (handlers.size === 0 && this.byChannel.get(channel) === handlers) this.byChannel.delete(channel);
    };
  }

  /** Calls every handler of the channel; one that throws is reported and does not stop the others. */
  deliver(channel: string, message: string): void {
    for (const handler of [...(this.byChannel.get(channel) ?? [])]) {
      try {
        handler(message);
      } catch (error) {
        this.report(`a handler of channel ${channel} failed`, error);
      }
    }
  }

  /** Forgets all handlers. */
  clear(): void {
    this.byChannel.clear();
  }
}
