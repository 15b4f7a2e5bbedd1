import { Injectable } from '@nestjs/common';
import type { Caller } from '../platform/http/gone.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';

type Listener = (terminal: boolean) => void;

/** Tells those who wait for a task on this replica that its row changed. A hint: they look into the ledger. */
@Injectable()
export class TaskNews {
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly shutdown: Shutdown) {
    shutdown.on('intake', 'task waiters', () => {
      for (const listeners of this.listeners.values()) for (const listener of [...listeners]) listener(true);
    });
  }

  changed(taskId: string, terminal: boolean): void {
    const listeners = this.listeners.get(taskId);
    if (listeners !== undefined) for (const listener of [...listeners]) listener(terminal);
  }

  /** Calls `listener` at each change until the returned function is called. */
  listen(taskId: string, listener: Listener): () => void {
    const listeners = this.listeners.get(taskId) ?? new Set<Listener>();
    this.listeners.set(taskId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(taskId) === listeners) this.listeners.delete(taskId);
    };
  }

  /**
   * Looks again and again until `look` finds something, the time is up or the replica stops: at once, at each
   * news of the task, and every `recheckMs` in case news was lost.
   */
  async wait<T>(
    taskId: string,
    look: () => Promise<{ done: boolean; value: T }>,
    waitMs: number,
    recheckMs: number,
    caller?: Caller,
  ): Promise<T> {
    const until = performance.now() + waitMs;
    for (;;) {
      let wake = (): void => undefined;
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const stop = this.listen(taskId, (terminal) => {
        if (terminal) wake();
      });
      try {
        const { done, value } = await look();
        const leftMs = until - performance.now();
        if (done || leftMs <= 0 || this.shutdown.stopping || caller?.gone === true) return value;
        const timer = setTimeout(wake, Math.min(leftMs, recheckMs));
        caller?.onLeave(wake);
        await woken;
        clearTimeout(timer);
        caller?.onLeave(undefined);
      } finally {
        stop();
      }
    }
  }
}
