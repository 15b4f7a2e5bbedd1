import { between, oneOf, randomOf } from './random.js';

/** What tasks ask for; every agent offers some of them. */
export const CAPABILITIES = ['torture.short', 'torture.long', 'torture.mixed'] as const;

/** What a task makes its agent do at each attempt; the last one goes for all that follow. */
export type Fate = 'well' | 'throws' | 'refuses' | 'fails_for_good' | 'kills' | 'kills_at_the_end';

export interface Payload {
  n: number;
  work_ms: number;
  fates: Fate[];
}

/** A task as it is submitted, apart from its namespace and key. */
export interface Order {
  capability: string;
  payload: Payload;
  idempotent: boolean;
  priority: number;
  max_attempts: number;
  ack_timeout_ms: number;
  execution_timeout_ms: number;
  expires_in_ms?: number;
  delay_ms?: number;
  affinity_key?: string;
}

/** Task number `n`, and what the client does with it afterwards. */
export interface Plan {
  key: string;
  order: Order;
  /** Submitted with others in one call. */
  batched: boolean;
  /** Submitted once more, with the same key, after so long. */
  repeatAfterMs: number | undefined;
  cancelAfterMs: number | undefined;
  /** Whether its end is waited for, and its result looked at. */
  watched: boolean;
}

/** Share of tasks that kill the process which works on them. */
const POISON = 0.0008;

/**
 * What task number `n` of a run is: a function of the seed.
 * @param poison whether there may be tasks that kill
 */
export function planOf(seed: number, n: number, poison = false): Plan {
  const random = randomOf(seed, `task ${n}`);
  const chance = (share: number): boolean => random() < share;
  const order: Order = {
    capability: oneOf(random, CAPABILITIES),
    payload: { n, work_ms: chance(0.1) ? between(random, 300, 2000) : between(random, 0, 60), fates: [] },
    idempotent: chance(0.5),
    priority: between(random, -2, 2),
    max_attempts: chance(0.2) ? between(random, 1, 2) : 4,
    ack_timeout_ms: 2000,
    execution_timeout_ms: chance(0.05) ? between(random, 100, 500) : 8000,
  };
  // Some end at the very moment at which they are given up, some when another agent is at it already.
  if (order.execution_timeout_ms < 1000)
    order.payload.work_ms = order.execution_timeout_ms * (chance(0.5) ? 1 : 2) + between(random, -20, 40);
  if (chance(0.05)) order.expires_in_ms = between(random, 50, 3000);
  if (chance(0.05)) order.delay_ms = between(random, 1, 3000);
  if (chance(0.1)) order.affinity_key = `a${between(random, 1, 20)}`;
  if (chance(0.1))
    order.payload.fates = Array.from({ length: between(random, 1, 3) }, () =>
      oneOf<Fate>(random, ['well', 'throws', 'throws', 'refuses', 'fails_for_good']),
    );
  if (chance(POISON) && poison) order.payload.fates = [oneOf<Fate>(random, ['kills', 'kills_at_the_end'])];
  return {
    key: `torture-${seed}-${n}`,
    order,
    batched: chance(0.3),
    repeatAfterMs: chance(0.08) ? between(random, 0, 4000) : undefined,
    cancelAfterMs: chance(0.06) ? between(random, 0, 1500) : undefined,
    watched: chance(0.15),
  };
}

/** What attempt number `attempt` of a task comes to. */
export function fateOf(payload: Payload, attempt: number): Fate {
  return payload.fates[Math.min(attempt, payload.fates.length) - 1] ?? 'well';
}
