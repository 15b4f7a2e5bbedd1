import { mkdir } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { History } from './check/history.js';
import { runChecks } from './check/run-checks.js';
import { collect, dropGuard, openTasks, watch } from './collect.js';
import { Ledger, nowMs, readLedgers } from './ledger.js';
import { scrape } from './metrics.js';
import { Nemesis } from './nemesis.js';
import type { Options } from './options.js';
import { scheduleOf, STARTS_ANEW } from './plan/schedule.js';
import { type Report, reportOf } from './report.js';
import type { LoadOrders } from './roles/load.js';
import { Pulse } from './pulse.js';
import { Sampler } from './sampler.js';
import { RoleProcess } from './system/role-process.js';
import { LEASE_TTL_MS, SWEEP_INTERVAL_MS, System } from './system/system.js';

const NAMESPACE = 'torture';
const LONGEST_ON_SMALL_DISK = 20;

export interface RunOptions extends Options {
  /** Main file of the dispatchers, where it is not the built server's. */
  main?: string;
  /** Take away the ledger's own trigger. */
  withoutTrigger?: boolean;
  /** After the last fault everything has to come to its end within this. */
  quietMs: number;
}

/** One run: starts everything, breaks things under load, waits for quiet, and checks what everybody wrote down. */
export async function run(options: RunOptions, out: string, say: (text: string) => void): Promise<Report> {
  await mkdir(out, { recursive: true });
  const began = nowMs();
  const { mode, dispatchers, groups, agentsPerGroup, main } = options;
  const parts = {
    mode,
    dispatchers,
    groups,
    agentsPerGroup,
    namespace: NAMESPACE,
    out,
    seed: options.seed,
    // It is in memory, and all tasks of a long run are not.
    smallDisk: options.minutes <= LONGEST_ON_SMALL_DISK,
  };
  const system = await System.start({ ...parts, ...(main !== undefined && { main }) });
  const ledger = new Ledger(join(out, 'nemesis.jsonl'));
  try {
    if (mode === 'distributed' && system.disk === undefined)
      say(
        'full_disk only passes the time: a disk of its own takes root, the right to mount, and a short run',
      );
    await watch(system.postgres.url);
    if (options.withoutTrigger === true) await dropGuard(system.postgres.url);
    await system.startAgents();
    say(`started in ${Math.round((nowMs() - began) / 1000)} s; ledgers in ${out}`);
    await torture(system, options, out, ledger, say);
    const history = await historyOf(system, out);
    const report = reportOf(options, history, runChecks(history), (nowMs() - began) / 1000);
    if (report.violations > 0) keepLogs(system, out);
    return report;
  } finally {
    ledger.close();
    await system.stop();
  }
}

/** Load and faults at the same time, then quiet until every task has ended. */
async function torture(
  system: System,
  options: RunOptions,
  out: string,
  ledger: Ledger,
  say: (text: string) => void,
): Promise<void> {
  const durationMs = options.minutes * 60_000;
  const load = new RoleProcess('load', () => loadOrders(system, options, out));
  await load.start();
  const done = load.says('done');
  const nemesis = new Nemesis(system, load, ledger);
  const sampler = samplerOf(system, ledger);
  const pulse = new Pulse(system, ledger);
  pulse.start();
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
  const deadline = nowMs() + options.quietMs;
  while ((await openTasks(system.postgres.url, NAMESPACE)) > 0 && nowMs() < deadline) await pause(250);
  await sampler?.stop();
  await pulse.stop();
}

function loadOrders(system: System, options: RunOptions, out: string): LoadOrders {
  return {
    ledger: join(out, 'client.jsonl'),
    namespace: NAMESPACE,
    urls: system.urls(),
    seed: options.seed,
    tasks: Number.isFinite(options.tasks) ? options.tasks : 2 ** 31,
    perSecond: options.perSecond,
    poison: options.faultEveryMs > 0 && options.kinds === undefined,
    giveUpMs: options.quietMs,
  };
}

function samplerOf(system: System, ledger: Ledger): { stop(): Promise<void> } | undefined {
  if (system.redis === undefined) return undefined;
  const redis = new Redis(system.redis.url, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  const sampler = new Sampler(system.postgres.url, redis, NAMESPACE, ledger);
  sampler.start();
  return {
    stop: async () => {
      redis.disconnect();
      await sampler.stop();
    },
  };
}

async function historyOf(system: System, out: string): Promise<History> {
  const faults = readLedgers<History['faults'][number]>(out, 'nemesis');
  const counters = faults.some((f) => f.event === 'start' && STARTS_ANEW.has(f.kind))
    ? undefined
    : await scrape(system.dispatchers.map((d) => d.url));
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

/** What the dispatchers logged, for whoever looks into a finding. */
function keepLogs(system: System, out: string): void {
  system.dispatchers.forEach((dispatcher, i) => {
    const lines = dispatcher.log.map((line) => JSON.stringify(line)).join('\n');
    writeFileSync(join(out, `dispatcher-${i}.log`), lines);
  });
}
