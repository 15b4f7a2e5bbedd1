import type { Standing } from './verdict.js';

/**
 * The five states of an agent, as one pure function over named facts.
 *
 * online: may get work. degraded: works with something missing. suspicious: a sign of trouble, no new work,
 * stays registered. offline: the lease ended. removing: leaves on purpose, only a new registration returns it.
 */
export const AGENT_STATES = ['online', 'degraded', 'suspicious', 'offline', 'removing'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

/** What is known about an agent at one moment. */
export interface AgentFacts {
  lease: 'live' | 'ended';
  /** `missed`: none for `MISSED_AFTER_INTERVALS` intervals. `dead`: none for as long as a lease lasts. */
  heartbeat: 'fresh' | 'missed' | 'dead';
  /** `none`: the agent uses no session (it polls, or is pushed to). */
  session: 'open' | 'broken' | 'none';
  leaving: boolean;
  /** Whether the agent answers when it is asked; `unknown` where nobody asks. */
  echo: Standing;
  dependencies: readonly DependencyFact[];
}

export interface DependencyFact {
  name: string;
  critical: boolean;
  standing: Standing;
  /** Kind of the latest failure, while it is not good. */
  fault?: string | undefined;
}

export interface AgentVerdict {
  state: AgentState;
  reason: string;
}

/** A heartbeat older than this many intervals counts as missed: one was due and half an interval of grace passed. */
export const MISSED_AFTER_INTERVALS = 1.5;

/** States in which an agent may be offered new work. */
export const WORKING_STATES: readonly AgentState[] = ['online', 'degraded'];

interface Rule {
  /** Names the rule in the diagram of the documentation. */
  label: string;
  state: AgentState;
  when: (facts: AgentFacts) => boolean;
  /** Says of these facts what the label says in general; the label itself where it is left out. */
  reason?: (facts: AgentFacts) => string;
}

/**
 * First match decides. An agent whose lease ended but whose echo still answers is busy or cut off from us in one
 * direction: it is kept out of service, not given up (its lease is given one more length for that, no longer; a
 * session that broke carries no echo).
 */
export const AGENT_RULES: readonly Rule[] = [
  { label: 'deregistered', state: 'removing', when: (f) => f.leaving },
  {
    label: 'lease expired',
    state: 'offline',
    when: (f) => f.lease === 'ended' && !(f.echo === 'good' && f.session !== 'broken'),
  },
  { label: 'session broken', state: 'suspicious', when: (f) => f.session === 'broken' },
  { label: 'heartbeat missed', state: 'suspicious', when: (f) => f.heartbeat !== 'fresh' },
  {
    label: 'lease expired, echo answers',
    state: 'suspicious',
    when: (f) => f.lease === 'ended',
  },
  { label: 'echo failed, being confirmed', state: 'suspicious', when: (f) => f.echo === 'suspect' },
  { label: 'echo unanswered', state: 'suspicious', when: (f) => f.echo === 'bad' },
  {
    label: 'critical dependency failed, being confirmed',
    state: 'suspicious',
    when: (f) => some(f, 'suspect', true),
    reason: (f) => `critical dependency ${named(f, 'suspect', true)} failed, being confirmed`,
  },
  {
    label: 'critical dependency down',
    state: 'degraded',
    when: (f) => some(f, 'bad', true),
    reason: (f) => `critical dependency ${named(f, 'bad', true)} is down`,
  },
  {
    label: 'optional dependency down',
    state: 'degraded',
    when: (f) => some(f, 'bad', false),
    reason: (f) => `optional dependency ${named(f, 'bad', false)} is down`,
  },
  { label: 'heartbeat fresh', state: 'online', when: () => true },
];

function picked(facts: AgentFacts, standing: Standing, critical: boolean): DependencyFact[] {
  return facts.dependencies.filter((d) => d.standing === standing && d.critical === critical);
}

function some(facts: AgentFacts, standing: Standing, critical: boolean): boolean {
  return facts.dependencies.some((d) => d.standing === standing && d.critical === critical);
}

function named(facts: AgentFacts, standing: Standing, critical: boolean): string {
  return picked(facts, standing, critical)
    .map((d) => (d.fault === undefined ? d.name : `${d.name} (${d.fault})`))
    .join(', ');
}

/** The state that the facts call for. */
export function judgeAgent(facts: AgentFacts): AgentVerdict {
  const rule = AGENT_RULES.find((r) => r.when(facts));
  if (rule === undefined) return { state: 'suspicious', reason: 'no rule matched' };
  return { state: rule.state, reason: rule.reason?.(facts) ?? rule.label };
}

/**
 * Which changes may happen at all. `register` alone leads out of removing and offline: nothing that a probe or
 * a late heartbeat says brings a removed agent back. The trigger `agents_transition` of the database refuses the
 * rest, and the diagram in the documentation is drawn from this table.
 */
export const AGENT_TRANSITIONS: Readonly<Record<AgentState, readonly AgentState[]>> = {
  online: ['degraded', 'suspicious', 'offline', 'removing'],
  degraded: ['online', 'suspicious', 'offline', 'removing'],
  suspicious: ['online', 'degraded', 'offline', 'removing'],
  offline: ['removing'],
  removing: [],
};

/** Whether facts alone (no new registration) may move an agent from one state to the other. */
export function mayChange(from: AgentState, to: AgentState): boolean {
  return AGENT_TRANSITIONS[from].includes(to);
}
