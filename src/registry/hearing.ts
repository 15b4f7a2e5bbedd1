import { Inject, Injectable } from '@nestjs/common';
import { Continuity } from '../core/continuity.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Readiness } from '../platform/health/readiness.js';

/** A look that comes this much late was held up: by a stalled process, or a database that did not answer. */
const GAP_INTERVALS = 3;
const LEAST_GAP_MS = 2000;

/**
 * For how long agents have been able to reach the ledger through this replica. Who judges the silent asks here
 * first: what an agent could not say while we were away is not its fault.
 */
@Injectable()
export class Hearing {
  private readonly continuity: Continuity;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly readiness: Readiness,
  ) {
    const gapMs = Math.max(LEAST_GAP_MS, GAP_INTERVALS * config.sweepIntervalMs);
    this.continuity = new Continuity(performance.now(), gapMs);
  }

  /** Ms without a break, up to now. To be asked at every sweep: a long time between two is a break itself. */
  unbrokenMs(): number {
    // Before it listens nobody can be heard: starting up is an absence too.
    if (!this.readiness.isStarted) this.broken();
    return Math.floor(this.continuity.tick(performance.now()));
  }

  /** The ledger did not answer. */
  broken(): void {
    this.continuity.broken(performance.now());
  }
}
