import type { AgentFacts } from '../core/agent-state.js';
import { UNKNOWN, type Verdict } from '../core/verdict.js';
import type { WarmUp } from '../core/warm-up.js';
import type { AgentRow } from './agent-row.js';

/** A verdict with how fast the last good answer was. */
export interface ProbeFact extends Verdict {
  latencyMs?: number;
  /** It answered, but later than it should. */
  slow?: boolean;
}

/** What was observed of an agent; what is left out stays as it was. */
export interface FactsPatch {
  heartbeat?: AgentFacts['heartbeat'];
  session?: AgentFacts['session'];
  echo?: ProbeFact;
  /** By name of the dependency; others stay as they were. */
  dependencies?: Readonly<Record<string, ProbeFact>>;
  warmUp?: WarmUp;
}

/**
 * `agents.facts`: what no column of its own tells. Empty in rows from before there were facts. The statements read
 * `heartbeat`, `session` and `echo.standing` of it, and `dependencies` at a new registration.
 */
export interface StoredFacts {
  heartbeat?: AgentFacts['heartbeat'];
  session?: AgentFacts['session'];
  echo?: ProbeFact;
  dependencies?: Record<string, ProbeFact>;
  /** Present only where the agent can be warmed up. */
  warmUp?: WarmUp;
}

export interface DeclaredDependency {
  name: string;
  type: string;
  critical: boolean;
  timeout_ms: number;
  [key: string]: unknown;
}

/**
 * The facts with what was observed merged into them. A verdict older than the known one (the late word of a former
 * owner) is passed over; `unknown` is always taken, it means that nobody probes the thing any more. Verdicts about
 * dependencies that the agent does not declare are dropped.
 */
export function mergeFacts(
  facts: StoredFacts,
  patch: FactsPatch,
  declared: readonly DeclaredDependency[],
): StoredFacts {
  const dependencies: Record<string, ProbeFact> = {};
  for (const { name } of declared) {
    const fact = newer(facts.dependencies?.[name], patch.dependencies?.[name]);
    if (fact !== undefined) dependencies[name] = fact;
  }
  const echo = newer(facts.echo, patch.echo);
  const warmUp = patch.warmUp ?? facts.warmUp;
  return {
    heartbeat: patch.heartbeat ?? facts.heartbeat ?? 'fresh',
    session: patch.session ?? facts.session ?? 'none',
    ...(echo !== undefined && { echo }),
    dependencies,
    ...(warmUp !== undefined && { warmUp }),
  };
}

function newer(known: ProbeFact | undefined, told: ProbeFact | undefined): ProbeFact | undefined {
  if (told === undefined || known === undefined || told.standing === 'unknown') return told ?? known;
  return told.seq >= known.seq ? told : known;
}

/**
 * The facts as they are judged. Only the sweep ends leases, since it alone knows whether heartbeats could be heard,
 * so the lease of every other agent counts as live.
 */
export function judgedFacts(row: AgentRow, facts: StoredFacts = row.facts): AgentFacts {
  return {
    lease: row.state === 'offline' ? 'ended' : 'live',
    heartbeat: facts.heartbeat ?? 'fresh',
    session: facts.session ?? 'none',
    leaving: row.drain_until !== null,
    echo: (facts.echo ?? UNKNOWN).standing,
    dependencies: row.dependencies.map(({ name, critical }) => {
      const { standing, fault } = facts.dependencies?.[name] ?? UNKNOWN;
      return { name, critical, standing, ...(fault !== undefined && { fault }) };
    }),
  };
}

/** What the facts mean for eligibility, as sentences; see `Candidate`. */
export interface ReachFacts {
  criticalDown: string | undefined;
  warmingUp: string | undefined;
}

/** @param probes how many good probes a warm-up takes; 0: agents need none */
export function reachFactsOf(row: AgentRow, facts: StoredFacts, probes: number): ReachFacts {
  const down = row.dependencies.flatMap(({ name, critical }) => {
    const fact = facts.dependencies?.[name];
    return critical && fact?.standing === 'bad' ? [`${name}${howBad(fact)}`] : [];
  });
  const { warmUp } = facts;
  const cold = probes > 0 && warmUp !== undefined && !warmUp.passed;
  return {
    criticalDown: down.length === 0 ? undefined : down.join(', '),
    warmingUp: cold ? `${warmUp.good} of ${probes} probes good${meanOf(warmUp)}` : undefined,
  };
}

function howBad(fact: ProbeFact): string {
  const times = `${fact.failures} failures running since ${new Date(fact.sinceMs).toISOString()}`;
  return ` (${fact.fault === undefined ? times : `${fact.fault}, ${times}`})`;
}

function meanOf(warmUp: WarmUp): string {
  return warmUp.good === 0 ? '' : `, ${(warmUp.totalMs / warmUp.good).toFixed(1)} ms on average`;
}
