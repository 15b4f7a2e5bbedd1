import { reported } from './args.mjs';
import { choose, CONTESTANTS } from './contestants.mjs';
import { latencyAt, saturate } from './turn.mjs';
import { summary, writeReport } from './report.mjs';
import { Ledger } from './system/ledger.mjs';
import { describeMachine } from './system/machine.mjs';
import { onEnd } from './system/processes.mjs';
import { startNats, startRabbitmq } from './system/peer-servers.mjs';
import { createDatabase, startDispatcher, startPostgres, startRedis } from './system/servers.mjs';

const MOST_MINUTES = 40;
const WARM_UP_SECONDS = 5;

/** Everything the contestants meet on: started once, warm, idle while it is not their turn. */
async function openArena(options, contestants) {
  const modes = new Set(contestants.map(({ mode }) => mode));
  const statements = options.profile;
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres(options.dist, { statements })]);
  const arena = { redis, postgres, bullDatabase: await createDatabase(postgres.url, 'bull') };
  const stores = new Set(contestants.filter(({ kind }) => kind === 'peer').map(({ store }) => store));
  if (stores.has('postgres')) arena.peerDatabase = await createDatabase(postgres.url, 'peers');
  if (stores.has('rabbitmq')) arena.rabbitmq = await startRabbitmq();
  if (stores.has('nats')) arena.nats = await startNats();
  const inspect = options.profile;
  arena.distributed = await withLedger(
    await startDispatcher(options.dist, { databaseUrl: postgres.url, redisUrl: redis.url, inspect }),
  );
  if (modes.has('embedded'))
    arena.embedded = await withLedger(await startDispatcher(options.dist, { inspect }));
  return arena;
}

async function withLedger(dispatcher) {
  const ledger = new Ledger(dispatcher.postgres.url);
  await ledger.open();
  onEnd(() => ledger.close());
  return { ...dispatcher, ledger };
}

/**
 * Rounds in which the contestants take turns; then latency at half of what was found. Prints as it goes, and
 * writes results.json and RESULTS.md.
 */
export async function dispatch(options) {
  const contestants = choose(options.only);
  if (contestants.length === 0) throw new Error(`--only matches none of ${CONTESTANTS.map((c) => c.name)}`);
  const until = performance.now() + MOST_MINUTES * 60_000;
  const arena = await openArena(options, contestants);
  const machine = await describeMachine(arena.postgres.url);
  process.stdout.write(`${JSON.stringify(machine, null, 2)}\n`);
  await warmUp(contestants, options, arena);
  const rounds = options.latencyOnly ? 1 : options.rounds;
  const turns = [];
  for (let round = 1; round <= rounds && performance.now() < until; round++) {
    for (const contestant of options.latencyOnly ? latencyContestants(contestants) : contestants) {
      const turn = { round, ...(await saturate(contestant, options, arena)) };
      turns.push(turn);
      print(turn);
    }
  }
  const table = summary(contestants, turns);
  const profiles = options.profile ? await profiled(contestants, options, arena) : [];
  const latencies = options.latency ? await latency(contestants, options, arena, table) : [];
  const results = { machine, options: reported(options), summary: table, latencies, turns, profiles };
  await writeReport(results, options.out);
}

/** Round 0 is not counted: the dispatchers are servers and run for months, so they are measured warm. */
async function warmUp(contestants, options, arena) {
  const shortly = { ...options, warmUpSeconds: 0, seconds: WARM_UP_SECONDS };
  for (const contestant of contestants.filter(({ mode }) => mode)) {
    print({ round: 0, ...(await saturate(contestant, shortly, arena)) });
  }
}

async function profiled(contestants, options, arena) {
  const profiles = [];
  for (const contestant of contestants.filter(({ mode }) => mode)) {
    const turn = await saturate(contestant, options, arena, { profile: true });
    profiles.push(turn);
    process.stdout.write(`${JSON.stringify(turn, null, 1)}\n`);
  }
  return profiles;
}

function latencyContestants(contestants) {
  return contestants.filter(({ agents, batch }) => agents === 'session' && batch === 1);
}

async function latency(contestants, options, arena, table) {
  const found = [];
  for (const contestant of latencyContestants(contestants)) {
    const rate = table.find(({ name }) => name === contestant.name)?.rate.median;
    if (!rate) continue;
    // Here too round 0 is not counted: at half load tasks take another way than at saturation, which is cold still.
    for (let round = 0; round <= options.rounds; round++) {
      const turn = { round, ...(await latencyAt(rate / 2, contestant, options, arena)) };
      if (round > 0) found.push(turn);
      process.stdout.write(`${JSON.stringify(turn)}\n`);
    }
  }
  return found;
}

function print({ round, contestant, rate, usPerTask, othersCores, refused, deliveriesPerTask }) {
  const cpu = Object.entries(usPerTask).map(([name, us]) => `${name} ${us}`);
  const facts = [`others ${othersCores} cores`];
  if (refused) facts.push(`refused ${refused}`);
  if (deliveriesPerTask > 1) facts.push(`deliveries/task ${deliveriesPerTask}`);
  process.stdout.write(
    `${round} ${contestant.padEnd(24)} ${String(rate).padStart(6)}/s   us/task: ${cpu.join(', ')}   (${facts.join('; ')})\n`,
  );
}
