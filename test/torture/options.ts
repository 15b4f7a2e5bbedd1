import { parseArgs } from 'node:util';
import { FAULTS, type FaultKind } from './plan/schedule.js';
import type { Mode } from './system/system.js';

export interface Options {
  seed: number;
  mode: Mode;
  /** Most tasks, and the longest time; whichever comes first. */
  tasks: number;
  minutes: number;
  perSecond: number;
  /** Mean time between two faults; 0: none. */
  faultEveryMs: number;
  kinds: FaultKind[] | undefined;
  dispatchers: number;
  groups: number;
  agentsPerGroup: number;
  /** Torture servers that have a bug each instead, to see that it is caught. */
  seededBugs: boolean;
  /** Only these. */
  bugs: string[] | undefined;
  /** Directory of ledgers and report. */
  out: string | undefined;
}

const USAGE = `npm run torture -- [options]
  --seed N            what follows from it: tasks, faults and their times (default: a new one, which is printed)
  --tasks M           most tasks (default: as many as fit)
  --minutes T         how long (default 2; 0.4 for each seeded bug)
  --rate R            tasks a second (default 50)
  --fault-every MS    mean time between two faults (default 5000, 3000 for seeded bugs; 0: none)
  --faults a,b        only these kinds: ${Object.keys(FAULTS).join(', ')}
  --mode M            distributed (default) or embedded
  --dispatchers N     in distributed mode (default 3)
  --groups N          processes with agents (default 4)
  --agents N          agents in each (default 3)
  --seeded-bugs       torture servers with a known bug each; every one has to be caught
  --bugs a,b          only these
  --out DIR           where ledgers and report go (default: a temporary directory, kept when something is found)
`;

/** @throws Error that says what is wrong and how it is used */
export function optionsOf(args: readonly string[]): Options {
  const flag = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: flag,
      tasks: flag,
      minutes: flag,
      rate: flag,
      'fault-every': flag,
      faults: flag,
      mode: flag,
      dispatchers: flag,
      groups: flag,
      agents: flag,
      'seeded-bugs': { type: 'boolean' },
      bugs: flag,
      out: flag,
    },
  });
  const number = (name: Exclude<keyof typeof values, 'seeded-bugs'>, otherwise: number): number => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    if (value >= 0) return value;
    throw new Error(`--${name} ${values[name]} is not a number\n${USAGE}`);
  };
  const mode = values.mode ?? 'distributed';
  if (mode !== 'distributed' && mode !== 'embedded') throw new Error(`--mode ${mode}\n${USAGE}`);
  return {
    seed: number('seed', Math.floor(Math.random() * 2 ** 31)),
    mode,
    tasks: number('tasks', Infinity),
    minutes: number('minutes', values['seeded-bugs'] === true ? 0.4 : 2),
    perSecond: number('rate', 50),
    faultEveryMs: number('fault-every', values['seeded-bugs'] === true ? 3000 : 5000),
    kinds: values.faults?.split(',').map(kindOf),
    dispatchers: mode === 'embedded' ? 1 : number('dispatchers', 3),
    groups: number('groups', 4),
    agentsPerGroup: number('agents', 3),
    seededBugs: values['seeded-bugs'] ?? false,
    bugs: values.bugs?.split(','),
    out: values.out,
  };
}

function kindOf(name: string): FaultKind {
  if (name in FAULTS) return name as FaultKind;
  throw new Error(`--faults ${name}: there is no such fault\n${USAGE}`);
}
