import type { Prober } from '../prober.js';

/** Every prober by the type of target that it probes. */
export class Probers {
  private readonly byType: ReadonlyMap<string, Prober<unknown>>;

  constructor(probers: readonly Prober<unknown>[]) {
    this.byType = new Map(probers.map((prober) => [prober.type, prober]));
  }

  /** The prober of a type; undefined for one that is not probed over the network (`agent`). */
  get(type: string): Prober<unknown> | undefined {
    return this.byType.get(type);
  }
}
