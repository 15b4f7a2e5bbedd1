import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { History } from './check/history.js';
import { runChecks } from './check/run-checks.js';
import { collect, openTasks, watch } from './collect.js';
import { Ledger, nowMs, readLedgers } from './ledger.js';
import { scrape } from './metrics.js';
import { Nemesis } from './nemesis.js';
import { type Options, optionsOf } from './options.js';
import { scheduleOf } from './plan/schedule.js';
import { type Report, reportOf, replayOf, toMarkdown } from './report.js';
import type { LoadOrders } from './roles/load.js';
import { RoleProcess } from './system/role-process.js';
import { LEASE_TTL_MS, SWEEP_INTERVAL_MS, System } from './system/system.js';

/*
 * Pull any plug: real dispatchers, agents and clients work while a nemesis breaks things; afterwards a checker
 * holds what everybody wrote down against the database. `--seed` makes the same faults and tasks again.
 */

const NAMESPACE = 'torture';
/** After the last fault everything has to come to its end within this. */
const QUIET_MS = 90_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function run(options: Options, out: string): Promise<Report> {
  const began = nowMs();
  const { mode, dispatchers, groups, agentsPerGroup } = options;
  const system = await System.start({ mode, dispatchers, groups, agentsPerGroup, namespace: NAMESPACE, out });
  const ledger = new Ledger(join(out, 'nemesis.jsonl'));
  try {
    await watch(system.postgres.url);
    await system.startAgents();
    say(`started in ${Math.round((nowMs() - began) / 1000)} s; ledgers in ${out}`);
    await torture(system, options, out, ledger);
    const history = await historyOf(system, out);
    return reportOf(options, history, runChecks(history), (nowMs() - began) / 1000);
  } finally {
    ledger.close();
    await system.stop();
  }
}

/** Load and faults at the same time, then quiet until every task has ended. */
async function torture(system: System, options: Options, out: string, ledger: Ledger): Promise<void> {
  const durationMs = options.minutes * 60_000;
  const orders: LoadOrders = {
    ledger: join(out, 'client.jsonl'),
    namespace: NAMESPACE,
    urls: system.urls(),
    seed: options.seed,
    tasks: Number.isFinite(options.tasks) ? options.tasks : 2 ** 31,
    perSecond: options.perSecond,
  };
  const load = new RoleProcess('load', () => orders);
  await load.start();
  const done = load.says('done');
  const nemesis = new Nemesis(system, ledger);
  if (options.faultEveryMs > 0) {
    const { mode, dispatchers, groups, kinds, faultEveryMs } = options;
    const schedule = { mode, durationMs, everyMs: faultEveryMs, dispatchers, groups };
    nemesis.begin(scheduleOf(options.seed, { ...schedule, ...(kinds !== undefined && { kinds }) }));
  }
  await Promise.race([pause(durationMs, undefined, { ref: false }), done]);
  await nemesis.end();
  load.tell('stop');
  say('the nemesis rests');
  await done;
  const deadline = nowMs() + QUIET_MS;
  while ((await openTasks(system.postgres.url, NAMESPACE)) > 0 && nowMs() < deadline) await pause(250);
}

async function historyOf(system: System, out: string): Promise<History> {
  const faults = readLedgers<History['faults'][number]>(out, 'nemesis');
  const anew = faults.some((f) => f.event === 'start' && /^(kill|restart)_dispatcher$/.test(f.kind));
  const counters = anew ? undefined : await scrape(system.urls());
  await Promise.all(system.groups.map((group) => group.stop()));
  const rows = await collect(system.postgres.url, NAMESPACE);
  return {
    ...rows,
    client: readLedgers(out, 'client'),
    agents: readLedgers(out, 'agents'),
    faults,
    counters,
    concurrency: system.concurrency(),
    bounds: { leaseTtlMs: LEASE_TTL_MS, sweepMs: SWEEP_INTERVAL_MS, deadAfterMs: 3000, amplification: 1.1 },
  };
}

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2));
  const out = options.out ?? (await mkdtemp(join(tmpdir(), 'reach-torture-')));
  await mkdir(out, { recursive: true });
  say(`seed ${options.seed}; the same again: ${replayOf(options)}`);
  const report = await run(options, out);
  await writeFile(join(out, 'report.json'), JSON.stringify(report, undefined, 2));
  await writeFile(join(out, 'report.md'), toMarkdown(report));
  say(toMarkdown(report));
  if (report.violations === 0 && options.out === undefined) await rm(out, { recursive: true, force: true });
  return report.violations === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 2;
});
// Nothing that runs now is worth waiting for, and whatever was started dies with this process.
process.exit();
