import type { SimTask } from './world.js';

interface Offer {
  agentId: string;
  atMs: number;
  bad: boolean;
}

/** What happened in a simulation. */
export class Account {
  private readonly offers: Offer[] = [];
  private readonly latenciesMs: number[] = [];
  private readonly endsMs: number[] = [];
  private readonly most = new Map<string, number>();
  private failed = 0;
  private refusals = 0;

  offered(agentId: string, atMs: number, bad: boolean, inFlight: number): void {
    this.offers.push({ agentId, atMs, bad });
    this.most.set(agentId, Math.max(this.most.get(agentId) ?? 0, inFlight));
  }

  ended(task: SimTask, atMs: number, ok: boolean): void {
    if (!ok) {
      this.failed++;
      return;
    }
    this.endsMs.push(atMs);
    this.latenciesMs.push(atMs - task.arrivedMs);
  }

  /** The queue was full. */
  refused(_task: SimTask): void {
    this.refusals++;
  }

  /** Of the tasks that were taken. */
  get successRate(): number {
    return this.endsMs.length / (this.endsMs.length + this.failed);
  }

  get refusedCount(): number {
    return this.refusals;
  }

  get p95Ms(): number {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.95)] ?? NaN;
  }

  /** Offers per task that was taken. */
  get amplification(): number {
    return this.offers.length / (this.endsMs.length + this.failed);
  }

  /** Share of the offers that went where work is wasted or slow. */
  get toBad(): number {
    return this.offers.filter((o) => o.bad).length / this.offers.length;
  }

  /** Share of the offers of a time that went to an agent. */
  shareOf(agentId: string, fromMs = 0, toMs = Infinity): number {
    const then = this.offers.filter((o) => o.atMs >= fromMs && o.atMs < toMs);
    return then.filter((o) => o.agentId === agentId).length / then.length;
  }

  /** When an agent got its first task from a moment on. */
  firstOfferMs(agentId: string, fromMs: number): number | undefined {
    return this.offers.find((o) => o.agentId === agentId && o.atMs >= fromMs)?.atMs;
  }

  /** Tasks that ended well, a second. */
  goodput(fromMs: number, toMs: number): number {
    return (this.endsMs.filter((ms) => ms >= fromMs && ms < toMs).length * 1000) / (toMs - fromMs);
  }

  /** Most tasks that an agent held at a time. */
  mostInFlight(agentId: string): number {
    return this.most.get(agentId) ?? 0;
  }
}
