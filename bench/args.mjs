import { parseArgs } from 'node:util';

/** A mistake on the command line; the message is all the caller needs. */
export class UsageError extends Error {}

export const USAGE = `npm run bench -- <dispatch|latency|heartbeat|probe|placement> [options]

  dispatch   tasks per second from enqueue to the committed result, beside BullMQ in the same run
  probe      how soon a death is noticed, how often the prober is wrong, and what probing a fleet costs
  placement  what choosing an agent costs, for 10 to 10 000 agents and each strategy
  heartbeat  heartbeats a second, over REST and over sessions
  latency    enqueue to the agent at half of the saturation load (dispatch ends with it too)

  --rounds N      rounds; contestants take turns in each (default 3)
  --seconds S     measured seconds per contestant and round (default 8)
  --warm-up S     seconds before that, in which the processes of a turn get warm (default 8)
  --only A,B      parts of probe (detection, healthy, cost); contestants of the others, by name or prefix (bullmq, sessions, rest, batch, embedded, ...)
  --agents N      agents, all in one process (default 10)
  --callers N     single enqueues in flight, for each contestant (default 256)
  --payload B     bytes of JSON per task (default 300)
  --minutes M     length of the healthy run of probe (default 10)
  --fleets N,N    fleets whose cost probe measures, three dependencies each (default 1000)
  --no-latency    dispatch without the latency part
  --profile       one more turn per dispatcher contestant with CPU profile and statement times (not counted)
  --dist DIR      the build to measure (default dist)
  --out DIR       where the figures go, as JSON and Markdown (default bench); "-" writes none
`;

const OPTIONS = {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '8' },
  'warm-up': { type: 'string', default: '8' },
  only: { type: 'string', default: '' },
  agents: { type: 'string', default: '10' },
  callers: { type: 'string', default: '256' },
  payload: { type: 'string', default: '300' },
  minutes: { type: 'string', default: '10' },
  fleets: { type: 'string', default: '1000' },
  'no-latency': { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  dist: { type: 'string', default: 'dist' },
  out: { type: 'string', default: 'bench' },
  help: { type: 'boolean', default: false },
};

/** @throws UsageError */
export function readArguments(argv) {
  let parsed;
  try {
    parsed = parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { values, positionals } = parsed;
  const within = (name, least, most) => {
    const value = Number(values[name]);
    if (!(value >= least && value <= most)) throw new UsageError(`--${name} is from ${least} to ${most}`);
    return value;
  };
  return {
    bench: positionals[0] ?? 'dispatch',
    help: values.help,
    rounds: within('rounds', 1, 50),
    seconds: within('seconds', 1, 120),
    warmUpSeconds: within('warm-up', 0, 60),
    only: values.only.split(',').filter(Boolean),
    agents: within('agents', 1, 1000),
    callers: within('callers', 1, 2000),
    payloadBytes: within('payload', 20, 262_144),
    minutes: within('minutes', 1, 600),
    fleets: values.fleets.split(',').map((size) => {
      if (!(Number(size) >= 50 && Number(size) <= 20_000))
        throw new UsageError('--fleets are from 50 to 20000');
      return Number(size);
    }),
    latency: !values['no-latency'],
    profile: values.profile,
    dist: values.dist,
    out: values.out,
  };
}

/** What of the options stands in a report: not where things lie on the machine that measured. */
export function reported({ dist: _dist, out: _out, ...options }) {
  return options;
}
