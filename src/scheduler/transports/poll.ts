import type { Caller } from '../../platform/http/gone.js';
import type { Offered } from './offered.js';

/** One claim that waits on this replica. It is in `polls` for as long as it can be handed offers. */
export class Poll {
  /** Offers that were handed to it: nobody else gets them. */
  readonly handed: Offered[] = [];
  /** It was told to look into the list. */
  woken = false;
  private resolve: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly polls: Map<string, Set<Poll>>,
    readonly agentKey: string,
    private readonly leaseId: string,
    readonly max: number,
    private readonly caller: Caller | undefined,
  ) {
    const siblings = polls.get(agentKey);
    if (siblings === undefined) polls.set(agentKey, new Set([this]));
    else siblings.add(this);
    caller?.onLeave(this.end);
    if (caller?.gone === true) this.end();
  }

  /** Takes the offer, unless it is full, over, or of another lease. */
  take(offer: Offered): boolean {
    if (this.ended || this.handed.length >= this.max || offer.leaseId !== this.leaseId) return false;
    this.handed.push(offer);
    // Not at once: more offers of the same placement may follow.
    if (this.handed.length === 1) setImmediate(() => this.resolve?.());
    return true;
  }

  /** Tells it to look into the list; false when it has been told already. */
  wake(): boolean {
    if (this.ended || this.woken) return false;
    this.woken = true;
    this.resolve?.();
    return true;
  }

  /** Resolves when there is something to do, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (this.ended || this.woken || this.handed.length > 0) return;
    await new Promise<void>((resolve) => {
      this.resolve = resolve;
      this.timer = setTimeout(resolve, Math.max(0, ms));
    });
  }

  /** From now on it is handed nothing. */
  readonly end = (): void => {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    this.caller?.onLeave(undefined);
    const siblings = this.polls.get(this.agentKey);
    siblings?.delete(this);
    if (siblings?.size === 0) this.polls.delete(this.agentKey);
    this.resolve?.();
  };
}
