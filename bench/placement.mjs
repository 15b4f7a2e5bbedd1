/**
 * What one decision costs, by the size of the fleet that offers the capability: agents from the reach table that may take
 * the task, and one of them by each strategy. No servers: the built modules alone.
 */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reported } from './args.mjs';

const FLEETS = [10, 100, 1_000, 10_000];
const STRATEGIES = ['power_of_two', 'best', 'weighted_random', 'weighted_round_robin', 'least_watermark'];

/** Prints a line a strategy and fleet, and writes them all to placement.json. */
export async function placement(options) {
  const load = (path) => import(pathToFileURL(resolve(options.dist, path)).href);
  const { choose } = await load('core/selection.js');
  const { DEFAULT_POLICY } = await load('core/policy.js');
  const { ReachTable } = await load('registry/reach-table.js');
  const rows = [];
  for (const strategy of STRATEGIES)
    for (const agents of FLEETS) {
      const decide = decider(choose, { ...DEFAULT_POLICY, strategy }, tableOf(ReachTable, agents));
      const row = { strategy, agents, ...measure(decide, options.seconds) };
      rows.push(row);
      process.stdout.write(
        `${strategy.padEnd(21)} ${String(agents).padStart(6)} agents: ` +
          `${row.perSecond.toLocaleString('en').padStart(9)} decisions/s, ` +
          `p50 ${row.p50Us} us, p99 ${row.p99Us} us, max ${row.maxUs} us\n`,
      );
    }
  if (options.out !== '-')
    await writeFile(
      join(options.out, 'placement.json'),
      `${JSON.stringify({ options: reported(options), rows }, null, 2)}\n`,
    );
}

const REQUIREMENT = { namespace: 'default', capabilities: [{ name: 'work' }] };

function tableOf(ReachTable, agents) {
  const table = new ReachTable({ warmUpProbes: 0 });
  for (let i = 0; i < agents; i++) {
    const entry = table.apply(rowOf(i));
    // Some are full, as in life.
    for (let n = 0; n < i % 5; n++) entry.held.add(`held-${n}`);
  }
  return table;
}

function rowOf(i) {
  return {
    namespace: 'default',
    agent_id: `agent-${i}`,
    name: 'fleet',
    capabilities: [{ name: 'work', version: '1.2.0' }],
    dependencies: [],
    metadata: {},
    tags: [],
    facts: {},
    features: [],
    state: 'online',
    max_concurrency: 4,
    weight: 100,
    removed_at: null,
    rev: 1,
  };
}

function decider(choose, policy, table) {
  const turn = new Map();
  let seed = 1;
  return () => {
    const { agents } = table.someEligible(REQUIREMENT, 1);
    seed = (seed + 0x9e3779b9) >>> 0;
    const inputs = { length: agents.length, at: (i) => inputOf(agents[i]) };
    const selection = choose(inputs, policy, { seed, turn });
    if (selection.turn) for (const [id, value] of selection.turn) turn.set(id, value);
    // Load moves, so that the choices differ.
    const { held } = agents[selection.index];
    if (held.size > 2) held.clear();
    else held.add(seed);
  };
}

function inputOf({ agentId, inFlight, maxConcurrency, weight }) {
  const i = Number(agentId.slice(6));
  return {
    agentId,
    successRate: 1 - (i % 7) / 100,
    p50Ms: 50 + (i % 50),
    p95Ms: 100 + (i % 300),
    consecutiveFailures: i % 3,
    idleMs: 0,
    inFlight,
    maxConcurrency,
    weight,
  };
}

/** The rate first, without a clock in the loop, and then each decision by itself. */
function measure(decide, seconds) {
  const spent = (share) => performance.now() + share * seconds * 1000;
  for (const until = spent(0.2); performance.now() < until;) decide();
  let decisions = 0;
  const beganMs = performance.now();
  for (const until = spent(0.4); performance.now() < until;)
    for (let i = 0; i < 20; i++, decisions++) decide();
  const perSecond = Math.round((decisions * 1000) / (performance.now() - beganMs));
  const times = [];
  for (const until = spent(0.4); performance.now() < until;) {
    const from = performance.now();
    decide();
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const us = (share) =>
    Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] * 10_000) / 10;
  return { perSecond, p50Us: us(0.5), p99Us: us(0.99), maxUs: us(1) };
}
