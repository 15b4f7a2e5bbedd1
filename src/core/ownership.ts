import { hash32 } from './hash.js';

/** A replica as its row says. Times are those of the database's clock, in ms. */
export interface Member {
  replicaId: string;
  zone: string | undefined;
  /** From then on it counts: late enough for every other replica to have read its row before. */
  activeAtMs: number;
  heartbeatAtMs: number;
}

/**
 * Which replicas share the probing at a moment. Every replica reads the same rows and extrapolates the same
 * clock, so that all of them change over at the same instant: a target is never probed by two, nor by none.
 */
export class Membership {
  private members: readonly Member[] = [];
  private clockMs = 0;
  private readAtMs = 0;

  /** @param lifetimeMs a replica counts for so long after its last heartbeat */
  constructor(private readonly lifetimeMs: number) {}

  /** What was read: the rows, and the database's clock; `nowMs` is our monotonic clock at that moment. */
  update(members: readonly Member[], clockMs: number, nowMs: number): void {
    this.members = members;
    this.clockMs = clockMs;
    this.readAtMs = nowMs;
  }

  /** The database's clock by our reckoning. */
  clockAt(nowMs: number): number {
    return this.clockMs + (nowMs - this.readAtMs);
  }

  /** In how many ms a replica begins or ceases to count, as far as is known; Infinity when none does. */
  nextChangeMs(nowMs: number): number {
    const clock = this.clockAt(nowMs);
    const moments = this.members.flatMap((m) => [m.activeAtMs, m.heartbeatAtMs + this.lifetimeMs]);
    return Math.min(Infinity, ...moments.filter((at) => at > clock).map((at) => at - clock));
  }

  /** Replicas that count now. One that could not renew its own row in time finds itself missing. */
  liveAt(nowMs: number): Member[] {
    const clock = this.clockAt(nowMs);
    return this.members.filter((m) => m.activeAtMs <= clock && clock < m.heartbeatAtMs + this.lifetimeMs);
  }
}

/**
 * Rendezvous hash (highest random weight): the replica that looks after `key`. When a replica comes or goes only
 * its own share moves. Replicas of the key's zone come first; where it has none, any replica will do.
 * @returns undefined when nobody is live
 */
export function ownerOf(key: string, live: readonly Member[], zone: string | undefined): string | undefined {
  const near = zone === undefined ? [] : live.filter((m) => m.zone === zone);
  let best: string | undefined;
  let bestHash = -1;
  for (const { replicaId } of near.length > 0 ? near : live) {
    const hash = hash32(`${key}\u0000${replicaId}`);
    if (hash > bestHash || (hash === bestHash && best !== undefined && replicaId < best)) {
      best = replicaId;
      bestHash = hash;
    }
  }
  return best;
}
