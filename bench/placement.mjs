/** What one choice of an agent costs, by the size of the fleet and the strategy. No servers: the built core alone. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const FLEETS = [10, 100, 1_000, 10_000];
const STRATEGIES = ['power_of_two', 'best', 'weighted_random', 'weighted_round_robin', 'least_watermark'];
const WARM_UP = 20_000;

/** Prints a line a strategy and fleet, and writes them all to placement.json. */
export async function placement(options) {
  const load = (path) => import(pathToFileURL(resolve(options.dist, path)).href);
  const { choose } = await load('core/selection.js');
  const { DEFAULT_POLICY } = await load('core/policy.js');
  const rows = [];
  for (const strategy of STRATEGIES)
    for (const agents of FLEETS) {
      const row = {
        strategy,
        agents,
        ...measure(choose, { ...DEFAULT_POLICY, strategy }, agents, options.seconds),
      };
      rows.push(row);
      process.stdout.write(
        `${strategy.padEnd(21)} ${String(agents).padStart(6)} agents: ` +
          `${row.perSecond.toLocaleString('en').padStart(9)} decisions/s, ` +
          `p50 ${row.p50Us} us, p99 ${row.p99Us} us, max ${row.maxUs} us\n`,
      );
    }
  if (options.out !== '-')
    await writeFile(join(options.out, 'placement.json'), `${JSON.stringify({ options, rows }, null, 2)}\n`);
}

/** The rate first, without a clock in the loop, and then each choice by itself. */
function measure(choose, policy, agents, seconds) {
  const fleet = Array.from({ length: agents }, (_, i) => agentOf(i));
  const turn = new Map();
  let seed = 1;
  const decide = () => {
    const selection = choose(fleet, policy, { seed: (seed = (seed + 0x9e3779b9) >>> 0), turn });
    if (selection.turn) for (const [id, value] of selection.turn) turn.set(id, value);
    const chosen = fleet[selection.index];
    // Load moves, so that the choices differ.
    chosen.inFlight = (chosen.inFlight + 1) % chosen.maxConcurrency;
  };
  for (let i = 0; i < WARM_UP; i++) decide();
  let decisions = 0;
  const beganMs = performance.now();
  const untilMs = beganMs + (seconds * 1000) / 2;
  while (performance.now() < untilMs) for (let i = 0; i < 1000; i++, decisions++) decide();
  const perSecond = Math.round((decisions * 1000) / (performance.now() - beganMs));
  const times = new Float64Array(100_000);
  for (let i = 0; i < times.length; i++) {
    const from = performance.now();
    decide();
    times[i] = performance.now() - from;
  }
  times.sort();
  const us = (share) =>
    Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] * 10_000) / 10;
  return { perSecond, p50Us: us(0.5), p99Us: us(0.99), maxUs: us(1) };
}

function agentOf(i) {
  return {
    agentId: `agent-${i}`,
    successRate: 1 - (i % 7) / 100,
    p50Ms: 50 + (i % 50),
    p95Ms: 100 + (i % 300),
    consecutiveFailures: i % 3,
    idleMs: 100,
    inFlight: i % 4,
    maxConcurrency: 8,
    weight: 100,
  };
}
