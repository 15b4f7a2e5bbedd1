import { type Logger } from './logger.js';

type Listener<T> = (event: T) => void;

/** Typed events. A listener that throws is logged; it can neither stop the others nor the agent. */
export class Emitter<Events extends object> {
  private readonly listeners = new Map<keyof Events, Set<Listener<never>>>();

  constructor(protected readonly logger: Logger) {}

  /** Calls `listener` at each `event`, until `off`. */
  on<K extends keyof Events>(event: K, listener: Listener<Events[K]>): this {
    let set = this.listeners.get(event);
    if (!set) this.listeners.set(event, (set = new Set()));
    set.add(listener);
    return this;
  }

  /** Ends what `on` or `once` began. */
  off<K extends keyof Events>(event: K, listener: Listener<Events[K]>): this {
    this.listeners.get(event)?.delete(listener);
    return this;
  }

  /** Calls `listener` at the next `event` only. */
  once<K extends keyof Events>(event: K, listener: Listener<Events[K]>): this {
    const only = (value: Events[K]) => {
      this.off(event, only);
      listener(value);
    };
    return this.on(event, only);
  }

  protected emit<K extends keyof Events>(event: K, value: Events[K]): void {
    for (const listener of this.listeners.get(event) ?? []) {
      try {
        (listener as Listener<Events[K]>)(value);
      } catch (error) {
        this.logger.error(`a listener of "${String(event)}" threw`, { error: String(error) });
      }
    }
  }
}
