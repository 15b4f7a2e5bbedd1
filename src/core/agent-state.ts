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
  /** `missed`: no heartbeat for `MISSED_AFTER_INTERVALS` intervals. */
  heartbeat: 'fresh' | 'missed';
  /** `none`: the agent uses no session (it polls, or is pushed to). */
  session: 'open' | 'broken' | 'none';
  leaving: boolean;
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
  when: (facts: AgentFacts) => boolean;
  state: AgentState;
  reason: string;
}

/** First match decides. */
const RULES: readonly Rule[] = [
  { when: (f) => f.leaving, state: 'removing', reason: 'deregistered' },
  { when: (f) => f.lease === 'ended', state: 'offline', reason: 'lease expired' },
  { when: (f) => f.session === 'broken', state: 'suspicious', reason: 'session broken' },
  { when: (f) => f.heartbeat === 'missed', state: 'suspicious', reason: 'heartbeat missed' },
  { when: () => true, state: 'online', reason: 'heartbeat fresh' },
];

/** The state that the facts call for. */
export function judgeAgent(facts: AgentFacts): AgentVerdict {
  for (const rule of RULES) if (rule.when(facts)) return { state: rule.state, reason: rule.reason };
  return { state: 'suspicious', reason: 'no rule matched' };
}

/**
 * Which changes may happen at all. `register` alone leads out of removing and offline: nothing that a probe or
 * a late heartbeat says brings a removed agent back.
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
