/* What probing costs, and what is done without where it would cost too much. */

/** Up to so many agents everything is probed in full. */
export const FULL_UP_TO_AGENTS = 10_000;
/** Beyond, the dependencies of all agents together are probed at this rate at most. */
export const SAMPLED_PER_SECOND = 1000;
/** A sampled target is probed half as often at least, or it would not be one. */
const LEAST_STRETCH = 2;

/** A target as the budget sees it. */
export interface Priced {
  readonly id: string;
  readonly isCritical: boolean;
  /** How many agents share it. */
  readonly size: number;
}

/** Which targets are probed in full, and by what factor the intervals of the others are stretched. */
export interface Plan {
  /** undefined: all of them */
  full: ReadonlySet<string> | undefined;
  stretch: number;
}

/**
 * Past 10 000 agents the `most` critical targets that the most agents share are probed in full; the rest is sampled
 * at what is left of the rate, and otherwise known by what tasks report.
 */
export function planOf(agents: number, targets: readonly Priced[], most: number, intervalMs: number): Plan {
  if (agents <= FULL_UP_TO_AGENTS) return { full: undefined, stretch: 1 };
  const critical = targets
    .filter((t) => t.isCritical)
    .sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1));
  const full = new Set(critical.slice(0, most).map((t) => t.id));
  const perSecond = (count: number) => (count * 1000) / intervalMs;
  const left = Math.max(SAMPLED_PER_SECOND - perSecond(full.size), 1);
  const stretch = Math.max(LEAST_STRETCH, perSecond(targets.length - full.size) / left);
  return { full, stretch };
}

/** One line of the arithmetic: so many things, each once in so long. */
export interface Rate {
  kind: string;
  targets: number;
  intervalMs: number;
  perSecond: number;
}

/** `targets` things of one kind, each asked once in `intervalMs`. */
export function rateOf(kind: string, targets: number, intervalMs: number): Rate {
  return { kind, targets, intervalMs, perSecond: (targets * 1000) / intervalMs };
}
