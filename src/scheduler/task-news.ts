import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import type { Caller } from '../platform/http/gone.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';

type Listener = (terminal: boolean) => void;

/** Between replicas: tasks that somebody watches there, or that took a step here. */
interface Message {
  from: string;
  watched?: string;
  stepped?: string[];
}

const CHANNEL = 'task-news';
/** How long a replica is told of the steps of a task without asking again. */
const WATCH_MS = 60_000;
const RENEW_MS = WATCH_MS / 3;
/** Watches of other replicas that are remembered; those of any more tasks learn of steps when they look again. */
const MAX_WATCHES = 10_000;

/**
 * Tells those who wait for a task on this replica that its row changed. A hint: they look into the ledger. Ends are
 * brought here from every replica (`Outcomes`); steps on the way (offered, running, progress) only for a task that
 * somebody watches, so that they cost nothing where nobody does.
 */
@Injectable()
export class TaskNews implements OnApplicationBootstrap {
  private readonly listeners = new Map<string, Set<Listener>>();
  /** What other replicas watch, and until when on our clock. The oldest are first. */
  private readonly elsewhere = new Map<string, number>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly shutdown: Shutdown,
  ) {
    shutdown.on('intake', 'task waiters', () => {
      for (const listeners of this.listeners.values()) for (const listener of [...listeners]) listener(true);
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(CHANNEL, (text) => this.hear(JSON.parse(text) as Message));
  }

  changed(taskId: string, terminal: boolean): void {
    const listeners = this.listeners.get(taskId);
    if (listeners !== undefined) for (const listener of [...listeners]) listener(terminal);
  }

  /** These tasks took a step, here, that did not end them. */
  stepped(taskIds: readonly string[]): void {
    if (this.listeners.size > 0) for (const id of taskIds) this.changed(id, false);
    if (this.elsewhere.size === 0) return;
    const stepped = taskIds.filter((id) => (this.elsewhere.get(id) ?? 0) > performance.now());
    if (stepped.length > 0) void this.publish({ from: this.config.replicaId, stepped });
  }

  /**
   * As `listen`, for steps that happen on any replica too. Resolves when the others were asked; what they commit while
   * the question is under way may be missed.
   */
  async watch(taskId: string, listener: Listener): Promise<() => void> {
    const stop = this.listen(taskId, listener);
    const ask = (): Promise<void> => this.publish({ from: this.config.replicaId, watched: taskId });
    const timer = setInterval(() => void ask(), RENEW_MS).unref();
    await ask();
    return () => {
      clearInterval(timer);
      stop();
    };
  }

  private hear(message: Message): void {
    if (message.from === this.config.replicaId) return;
    for (const id of message.stepped ?? []) this.changed(id, false);
    if (message.watched !== undefined) this.remember(message.watched);
  }

  private remember(taskId: string): void {
    const now = performance.now();
    for (const [id, until] of this.elsewhere) {
      if (until > now) break;
      this.elsewhere.delete(id);
    }
    this.elsewhere.delete(taskId);
    if (this.elsewhere.size < MAX_WATCHES) this.elsewhere.set(taskId, now + WATCH_MS);
  }

  /** Where it fails, those who watch look for themselves a little later. */
  private publish(message: Message): Promise<void> {
    return this.coordinator.publish(CHANNEL, JSON.stringify(message)).catch(() => undefined);
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
