import { setTimeout as wait } from 'node:timers/promises';
import { rolesOf } from './contestants.mjs';
import { cpuBetween, cpuSnapshot, untilQuiet } from './system/cpu.mjs';
import { Role } from './system/processes.mjs';
import { Profiler, summarise } from './system/profile.mjs';

const DRAIN_MS = 30_000;
const WITH_CHILDREN = ['postgres', 'rabbitmq'];

/** Two processes of a contestant at work: the one that submits and the one that does the tasks. */
class Pair {
  #done = 0;

  static async start(roles) {
    const pair = new Pair();
    pair.id = roles.id;
    pair.consumer = new Role(...roles.consumer);
    pair.producer = new Role(...roles.producer);
    await Promise.all([pair.consumer.call('ready'), pair.producer.call('ready')]);
    pair.consumer.on('done', (done) => {
      pair.#done = done;
      pair.producer.tell('done', done);
    });
    return pair;
  }

  /** Stops submitting and waits until all of it is done. @throws when it does not end */
  async drain() {
    const { sent, refused } = await this.producer.call('stop');
    for (const start = performance.now(); this.#done < sent; await wait(10)) {
      if (performance.now() - start > DRAIN_MS) throw new Error(`${this.id}: ${this.#done} of ${sent} done`);
    }
    return { sent, refused };
  }

  async stop() {
    await this.consumer.call('stop');
    await Promise.all([this.consumer.stop(), this.producer.stop()]);
  }
}

function pidsOf(contestant, arena, pair) {
  const pids = { submitting: pair.producer.pid, working: pair.consumer.pid };
  if (contestant.kind === 'reach') {
    const { pid, postgres } = arena[contestant.mode];
    Object.assign(pids, { dispatcher: pid, postgres: postgres.pid ?? arena.postgres.pid });
    if (contestant.mode === 'distributed') pids.redis = arena.redis.pid;
  } else {
    pids[contestant.store] = arena[contestant.store].pid;
  }
  return pids;
}

/** The committed results between two moments; for the others what their workers have completed. */
async function settledTurn(contestant, arena, pair, window) {
  if (contestant.kind !== 'reach') {
    const drained = await pair.drain();
    await pair.producer.call('obliterate');
    return { ...drained, tasks: window.counted };
  }
  const drained = await pair.drain();
  const ledger = arena[contestant.mode].ledger;
  // The last results may still be on their way into the ledger.
  let states;
  for (const start = performance.now(); ; await wait(50)) {
    states = await ledger.states(pair.id);
    if ((states.succeeded ?? 0) === drained.sent || performance.now() - start > 5000) break;
  }
  if (states.succeeded !== drained.sent) {
    throw new Error(`${pair.id}: ${drained.sent} accepted, the ledger says ${JSON.stringify(states)}`);
  }
  const deliveries = await ledger.deliveries(pair.id);
  const tasks = await ledger.succeededBetween(pair.id, window.from, window.to);
  return { ...drained, tasks, deliveriesPerTask: round(deliveries / drained.sent, 4) };
}

/**
 * One turn of one contestant: warm-up, a measured window at saturation, then everything submitted has to be
 * done and, for ours, be in the ledger exactly once.
 */
export async function saturate(contestant, options, arena, { profile = false } = {}) {
  await (arena[contestant.mode]?.ledger ?? arena.distributed.ledger).checkpoint();
  await untilQuiet();
  const pair = await Pair.start(rolesOf(contestant, options, arena));
  const pids = pidsOf(contestant, arena, pair);
  const count = () => (contestant.kind === 'reach' ? 0 : pair.consumer.call('count'));
  pair.producer.tell('saturate');
  await wait(options.warmUpSeconds * 1000);
  const recording = profile ? await record(arena[contestant.mode]) : undefined;
  const [counted, from, before] = [await count(), new Date(), cpuSnapshot(pids, WITH_CHILDREN)];
  await wait(options.seconds * 1000);
  const [countedTo, to, after] = [await count(), new Date(), cpuSnapshot(pids, WITH_CHILDREN)];
  const recorded = await recording?.stop();
  const window = { from, to, counted: countedTo - counted };
  const settled = await settledTurn(contestant, arena, pair, window);
  await pair.stop();
  const cpu = cpuBetween(before, after);
  const rate = settled.tasks / cpu.seconds;
  return {
    contestant: contestant.name,
    rate: round(rate),
    usPerTask: usPerTask(cpu, settled.tasks),
    othersCores: round(cpu.others, 2),
    ...settled,
    ...(recorded ? { profile: recorded } : {}),
  };
}

async function record({ inspector, ledger }) {
  await ledger.resetStatements();
  const profiler = await Profiler.attach(inspector);
  await profiler.start();
  return {
    stop: async () => {
      const recorded = await profiler.stop();
      return { ...summarise(recorded), statements: await ledger.topStatements(12) };
    },
  };
}

/** Enqueue to receipt by the agent and to the start of its work, at a fixed rate of single enqueues. */
export async function latencyAt(rate, contestant, options, arena) {
  await untilQuiet();
  const pair = await Pair.start(rolesOf(contestant, options, arena));
  const pids = pidsOf(contestant, arena, pair);
  pair.producer.tell('pace', rate);
  await wait(options.warmUpSeconds * 1000);
  await pair.consumer.call('takeLatencies');
  const before = cpuSnapshot(pids, WITH_CHILDREN);
  await wait(options.seconds * 1000);
  const after = cpuSnapshot(pids, WITH_CHILDREN);
  const cpu = cpuBetween(before, after);
  const { received, begun } = await pair.consumer.call('takeLatencies');
  await pair.drain();
  await pair.stop();
  return {
    contestant: contestant.name,
    offeredRate: round(rate),
    tasks: begun.length,
    received: distribution(received),
    begun: distribution(begun),
    usPerTask: usPerTask(cpu, begun.length),
    othersCores: round(cpu.others, 2),
  };
}

/** Quantiles in ms of latencies in us. */
function distribution(latenciesUs) {
  const us = Float64Array.from(latenciesUs).sort();
  const ms = (share) => round((us[Math.min(us.length - 1, Math.floor(us.length * share))] ?? NaN) / 1000, 2);
  return { p50Ms: ms(0.5), p99Ms: ms(0.99), maxMs: ms(1) };
}

function usPerTask({ used }, tasks) {
  return Object.fromEntries(
    Object.entries(used).map(([name, seconds]) => [name, round((seconds * 1e6) / tasks)]),
  );
}

function round(value, digits = 0) {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
