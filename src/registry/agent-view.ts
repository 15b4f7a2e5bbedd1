import type { z } from 'zod';
import { reachScore } from '../core/score.js';
import type { WindowView } from '../core/sliding-window.js';
import { UNKNOWN } from '../core/verdict.js';
import { judgedFacts, type ProbeFact } from './agent-facts.js';
import type { AgentRow } from './agent-row.js';
import type { ReachEntry } from './reach-table.js';
import type { agentFacts, agentWindow, breakerView, probeFact } from './agent-facts.wire.js';
import type { agentView } from './agents.wire.js';

/**
 * The row as the API shows it.
 * @param inFlight deliveries it holds now  @param entry what this replica knows of it
 */
export function toAgentView(
  row: AgentRow,
  inFlight: number,
  entry: ReachEntry | undefined,
): z.input<typeof agentView> {
  const breaker = entry && toBreakerView(entry, performance.now());
  return {
    namespace: row.namespace,
    agent_id: row.agent_id,
    name: row.name,
    capabilities: row.capabilities,
    dependencies: row.dependencies,
    transport: row.transport,
    ...(row.endpoint !== null && { endpoint: row.endpoint }),
    ...(row.source !== null && { source: row.source }),
    state: row.state,
    state_reason: row.state_reason,
    state_since: row.state_since.toISOString(),
    max_concurrency: row.max_concurrency,
    in_flight: inFlight,
    weight: row.weight,
    tags: row.tags,
    metadata: row.metadata,
    heartbeat_interval_ms: row.heartbeat_interval_ms,
    last_heartbeat_at: row.last_heartbeat_at.toISOString(),
    lease_expires_at: row.lease_expires_at.toISOString(),
    capacity: row.capacity,
    registered_at: row.registered_at.toISOString(),
    ...(breaker !== undefined && { breaker }),
    ...(row.held_since !== null && {
      held: { reason: row.hold_reason ?? '', since: row.held_since.toISOString() },
    }),
    ...(row.removed_at !== null && { removed_at: row.removed_at.toISOString() }),
  };
}

/** Undefined while nothing keeps work from the agent. */
function toBreakerView(entry: ReachEntry, nowMs: number): z.input<typeof breakerView> | undefined {
  const state = entry.breaker.at(nowMs);
  if (state.phase === 'closed') return undefined;
  return {
    phase: state.phase,
    since: new Date(Date.now() - (nowMs - state.sinceMs)).toISOString(),
    ...(entry.ejected !== undefined && { cause: entry.ejected }),
    slots: entry.allowed,
  };
}

/** The facts behind the state. `needed`: good probes that a warm-up takes. */
export function toFactsView(row: AgentRow, needed: number): z.input<typeof agentFacts> {
  const { facts } = row;
  const { lease, heartbeat, session, leaving } = judgedFacts(row);
  const { warmUp } = facts;
  return {
    lease,
    heartbeat,
    session,
    leaving,
    echo: toProbeView(facts.echo),
    dependencies: row.dependencies.map(({ name, type, critical }) => ({
      name,
      type: String(type),
      critical,
      ...toProbeView(facts.dependencies?.[name]),
    })),
    ...(warmUp !== undefined && {
      warm_up: {
        passed: warmUp.passed || needed === 0,
        good: warmUp.good,
        needed,
        ...(warmUp.good > 0 && { mean_ms: warmUp.totalMs / warmUp.good }),
        ...(warmUp.slow && { slow: true }),
      },
    }),
  };
}

function toProbeView(fact: ProbeFact = UNKNOWN): z.input<typeof probeFact> {
  return {
    standing: fact.standing,
    ...(fact.standing !== 'unknown' && { since: new Date(fact.sinceMs).toISOString() }),
    failures: fact.failures,
    successes: fact.successes,
    ...(fact.fault !== undefined && { fault: fact.fault }),
    ...(fact.detail !== undefined && { detail: fact.detail }),
    ...(fact.latencyMs !== undefined && { latency_ms: fact.latencyMs }),
    ...(fact.slow !== undefined && { slow: fact.slow }),
  };
}

/**
 * A window as the API shows it; undefined where nothing is in it.
 * @param nowMs the clock of the window  @param targetMs the latency that is good enough, for the score
 */
export function toWindowView(
  view: WindowView | undefined,
  nowMs: number,
  targetMs: number,
): z.input<typeof agentWindow> | undefined {
  if (view?.successRate === undefined || view.lastActivityMs === undefined) return undefined;
  const last = Date.now() - (nowMs - view.lastActivityMs);
  return {
    samples: view.samples,
    success_rate: view.successRate,
    ...(view.p50Ms !== undefined && { p50_ms: view.p50Ms }),
    ...(view.p95Ms !== undefined && { p95_ms: view.p95Ms }),
    consecutive_failures: view.consecutiveFailures,
    last_activity_at: new Date(last).toISOString(),
    silent: view.silent,
    score: reachScore(view, targetMs),
  };
}
