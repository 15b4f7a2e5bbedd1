import { between, randomOf, shuffled } from './random.js';

/** Everything that the nemesis can do. The second word of a kind says to what. */
export const FAULTS = {
  kill_dispatcher: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [200, 3000] },
  failpoint_dispatcher: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [0, 1000] },
  freeze_dispatcher: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [500, 9000] },
  restart_dispatcher: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [0, 0] },
  kill_agents: { target: 'group', modes: ['distributed', 'embedded'], ms: [0, 8000] },
  freeze_agents: { target: 'group', modes: ['distributed', 'embedded'], ms: [500, 9000] },
  restart_agents: { target: 'group', modes: ['distributed', 'embedded'], ms: [0, 0] },
  flushall: { target: 'redis', modes: ['distributed'], ms: [0, 0] },
  empty_redis: { target: 'redis', modes: ['distributed'], ms: [0, 5000] },
  freeze_redis: { target: 'redis', modes: ['distributed'], ms: [1000, 10_000] },
  kill_postgres: { target: 'postgres', modes: ['distributed', 'embedded'], ms: [0, 0] },
  cut_postgres: { target: 'postgres', modes: ['distributed', 'embedded'], ms: [0, 0] },
  full_redis: { target: 'redis', modes: ['distributed'], ms: [1000, 8000] },
  slow_link: { target: 'link', modes: ['distributed', 'embedded'], ms: [1000, 8000] },
  cut_link: { target: 'link', modes: ['distributed', 'embedded'], ms: [500, 10_000] },
  reset_link: { target: 'link', modes: ['distributed', 'embedded'], ms: [0, 0] },
  half_open_link: { target: 'link', modes: ['distributed', 'embedded'], ms: [0, 0] },
  wrong_clock: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [3000, 10_000] },
  drifting_clock: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [4000, 12_000] },
  block_loop: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [5000, 5000] },
  small_pool: { target: 'dispatcher', modes: ['distributed', 'embedded'], ms: [4000, 12_000] },
  redis_failover: { target: 'redis', modes: ['distributed'], ms: [1000, 5000] },
  full_disk: { target: 'postgres', modes: ['distributed'], ms: [1000, 6000] },
  cut_agents: { target: 'group', modes: ['distributed', 'embedded'], ms: [500, 10_000] },
  kill_fleet: { target: 'fleet', modes: ['distributed', 'embedded'], ms: [0, 6000] },
  noisy_wire: { target: 'group', modes: ['distributed', 'embedded'], ms: [2000, 10_000] },
  overload: { target: 'load', modes: ['distributed', 'embedded'], ms: [500, 2000] },
  /** Not planned: a task killed its agents, and they are started again. */
  revive_agents: { target: 'group', modes: [], ms: [0, 0] },
  lock_tasks: { target: 'postgres', modes: ['distributed', 'embedded'], ms: [500, 8000] },
} as const satisfies Record<string, FaultTraits>;

export type FaultKind = keyof typeof FAULTS;

/** After these a dispatcher is another process, which counts from nought. */
export const STARTS_ANEW: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'kill_dispatcher',
  'failpoint_dispatcher',
  'restart_dispatcher',
  'wrong_clock',
  'drifting_clock',
  'small_pool',
]);

/** While these last there is always somebody who can work, where they come alone. */
export const GOES_ON: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'drifting_clock',
  'small_pool',
  'cut_agents',
]);
type Target = 'dispatcher' | 'group' | 'fleet' | 'link' | 'load' | 'redis' | 'postgres';

interface FaultTraits {
  target: Target;
  modes: readonly ('distributed' | 'embedded')[];
  /** How long it lasts, from and to. */
  ms: readonly [number, number];
}

/** One thing that the nemesis will do. */
export interface Fault {
  n: number;
  kind: FaultKind;
  /** Which of its kind: dispatcher 2, group 0. */
  target: number;
  atMs: number;
  forMs: number;
  /** Decides what else there is to decide, by its remainder. */
  choice: number;
}

export interface ScheduleOptions {
  mode: 'distributed' | 'embedded';
  durationMs: number;
  /** Mean time between the beginnings of two faults. */
  everyMs: number;
  dispatchers: number;
  groups: number;
  /** Only these, where not all are wanted. */
  kinds?: readonly FaultKind[];
}

/**
 * What the nemesis does and when: a function of the seed and the options alone. Kinds are dealt from a shuffled
 * pack, so that each has its turn before any has the second; they overlap as they come.
 */
export function scheduleOf(seed: number, options: ScheduleOptions): Fault[] {
  const random = randomOf(seed, 'nemesis');
  const kinds = (options.kinds ?? (Object.keys(FAULTS) as FaultKind[])).filter((kind) =>
    (FAULTS[kind] as FaultTraits).modes.includes(options.mode),
  );
  const counts: Record<Target, number> = {
    dispatcher: options.dispatchers,
    group: options.groups,
    fleet: 1,
    // Of each dispatcher: to those who call it, to Postgres, and to Redis.
    link: options.mode === 'embedded' ? 1 : 3 * options.dispatchers,
    load: 1,
    redis: 1,
    postgres: 1,
  };
  const faults: Fault[] = [];
  let pack: FaultKind[] = [];
  for (let atMs = 0; kinds.length > 0;) {
    atMs += Math.round(options.everyMs * (0.25 + 1.5 * random()));
    if (atMs >= options.durationMs) break;
    if (pack.length === 0) pack = shuffled(random, kinds);
    const kind = pack.pop() as FaultKind;
    const { target, ms } = FAULTS[kind];
    faults.push({
      n: faults.length,
      kind,
      target: between(random, 0, counts[target] - 1),
      atMs,
      forMs: between(random, ms[0], ms[1]),
      choice: between(random, 0, 2 ** 30),
    });
  }
  return faults;
}
