import semver from 'semver';
import type { Rng } from './backoff.js';
import { MOST_PER_AGENT } from './call-chain.js';
import { WORKING_STATES, type AgentState } from './agent-state.js';
import type { Requirement } from './lane.js';
import { shuffled } from './random.js';

/** What placement knows about an agent. */
export interface Candidate {
  agentId: string;
  name: string;
  namespace: string;
  /** Version by capability name; undefined where the agent declared none. */
  capabilities: ReadonlyMap<string, string | undefined>;
  tags: readonly string[];
  zone: string | undefined;
  /** Where it can be called; undefined where it fetches its work itself. */
  endpoint: string | undefined;
  state: AgentState;
  stateReason: string;
  /** Which critical dependency is down, and how; undefined where none is. */
  criticalDown: string | undefined;
  /** How far the warm-up is; undefined once the agent is warm. */
  warmingUp: string | undefined;
  /** Why its breaker keeps work from it; undefined where it does not. */
  ejected: string | undefined;
  /** It is coming back from failures, and gets a part of its work only. */
  throttled: boolean;
  /** How many tasks at a time its breaker lets it hold: `maxConcurrency`, unless it is ejected or throttled. */
  allowed: number;
  /** Why an operator holds the agent out of service; undefined where none does. */
  hold: string | undefined;
  maxConcurrency: number;
  inFlight: number;
  weight: number;
}

export interface Rejection {
  filter: FilterName;
  reason: string;
}

/** In the order in which they are asked. */
export const FILTER_NAMES = [
  'namespace',
  'address',
  'capability',
  'version',
  'tags',
  'zone',
  'excluded',
  'call_chain',
  'endpoint',
  'state',
  'held',
  'critical_dependency',
  'breaker',
  'warm_up',
  'capacity',
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

type Filter = (c: Candidate, r: Requirement, open: Gates) => string | undefined;

/** Filters that do not count for now, since nobody could take the task that passes them all. */
type Gates = ReadonlySet<FilterName>;
const SHUT: Gates = new Set();
const COLD_TOO: Gates = new Set<FilterName>(['warm_up']);
const ANYBODY: Gates = new Set<FilterName>(['breaker', 'warm_up']);

/**
 * The filters in the order they are asked; each says why it rejects. Those before `state` ask whether the
 * agent is the right one at all, `state` to `warm_up` whether it can be used now, `capacity` whether it has room.
 */
const FILTERS: readonly (readonly [FilterName, Filter])[] = [
  ['namespace', (c, r) => (c.namespace === r.namespace ? undefined : `is in namespace ${c.namespace}`)],
  ['address', address],
  ['capability', capability],
  ['version', version],
  ['tags', tags],
  [
    'zone',
    (c, r) => (r.zone === undefined || c.zone === r.zone ? undefined : `is in zone ${c.zone ?? '(none)'}`),
  ],
  ['excluded', (c, r) => (r.exclude?.includes(c.agentId) ? 'excluded by the task' : undefined)],
  [
    'call_chain',
    (c, r) =>
      r.spent?.includes(c.agentId)
        ? `stands ${MOST_PER_AGENT} times in this chain of calls, which is the most`
        : undefined,
  ],
  [
    'endpoint',
    (c, r) =>
      r.direct && c.endpoint === undefined ? 'has no endpoint: it fetches its work itself' : undefined,
  ],
  ['state', (c) => (WORKING_STATES.includes(c.state) ? undefined : `${c.state}: ${c.stateReason}`)],
  ['held', (c) => (c.hold === undefined ? undefined : `held by an operator${because(c.hold)}`)],
  [
    'critical_dependency',
    (c) => (c.criticalDown === undefined ? undefined : `critical dependency down: ${c.criticalDown}`),
  ],
  ['breaker', (c) => (c.ejected === undefined ? undefined : `ejected by its breaker: ${c.ejected}`)],
  ['warm_up', (c) => (c.warmingUp === undefined ? undefined : `warming up: ${c.warmingUp}`)],
  ['capacity', capacity],
];

/** Filters that ask whether the agent can be reached and used now, beside whether it has room. */
const REACH_FILTERS: ReadonlySet<FilterName> = new Set<FilterName>([
  'state',
  'held',
  'critical_dependency',
  'breaker',
  'warm_up',
]);

function because(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

function address(c: Candidate, r: Requirement): string | undefined {
  if (r.agentId !== undefined && c.agentId !== r.agentId) return `is not ${r.agentId}`;
  if (r.name !== undefined && c.name !== r.name) return `is an instance of ${c.name}`;
  return undefined;
}

function capability(c: Candidate, r: Requirement): string | undefined {
  const missing = r.capabilities.find((need) => !c.capabilities.has(need.name));
  return missing === undefined ? undefined : `does not offer ${missing.name}`;
}

function version(c: Candidate, r: Requirement): string | undefined {
  for (const need of r.capabilities) {
    const range = need.version ?? r.version;
    if (range === undefined) continue;
    const offered = c.capabilities.get(need.name);
    if (offered === undefined) return `declares no version of ${need.name}, ${range} is needed`;
    if (!satisfies(offered, range)) return `offers ${need.name}@${offered}, ${range} is needed`;
  }
  return undefined;
}

/** Answers of semver, which parses both anew each time: a look at a fleet asks the same of all. */
const satisfied = new Map<string, boolean>();
const MOST_SATISFIED = 10_000;

function satisfies(offered: string, range: string): boolean {
  const key = `${offered}\u0000${range}`;
  const known = satisfied.get(key);
  if (known !== undefined) return known;
  const parsed = semver.coerce(offered);
  const answer = parsed !== null && semver.satisfies(parsed, range);
  if (satisfied.size >= MOST_SATISFIED) satisfied.clear();
  satisfied.set(key, answer);
  return answer;
}

function tags(c: Candidate, r: Requirement): string | undefined {
  const missing = r.tags?.find((tag) => !c.tags.includes(tag));
  return missing === undefined ? undefined : `lacks the tag ${missing}`;
}

function capacity(c: Candidate, _: Requirement, open: Gates): string | undefined {
  const slots = slotsOf(c, open.has('breaker'));
  if (c.inFlight < slots) return undefined;
  if (slots === c.maxConcurrency) return `busy: ${c.inFlight} of ${slots} slots in use`;
  return `recovering: ${c.inFlight} slots in use, it may use ${slots} of its ${c.maxConcurrency} for now`;
}

/** How many tasks at a time a candidate may hold: in a panic (see `eligibleOf`) breakers limit nobody. */
export function slotsOf(c: Candidate, panic: boolean): number {
  return panic ? c.maxConcurrency : c.allowed;
}

/** Why `candidate` may not take a task of this requirement now, or undefined when it may. Open gates do not count. */
export function rejectionOf(
  candidate: Candidate,
  requirement: Requirement,
  open: Gates = SHUT,
): Rejection | undefined {
  for (const [filter, ask] of FILTERS) {
    if (open.has(filter)) continue;
    const reason = ask(candidate, requirement, open);
    if (reason !== undefined) return { filter, reason };
  }
  return undefined;
}

/** Those that may take a task now. */
export interface Eligible<C> {
  agents: C[];
  /** Nobody that could take it is in good standing, so breakers limit nobody. */
  panic: boolean;
  rejected: Rejected;
}

/** Who was passed over, and why: how many by each filter, and some of them by name. */
export interface Rejected {
  counts: Partial<Record<FilterName, number>>;
  named: Refusal[];
}

/** Names kept of those that were passed over: enough to see what is wrong. */
const NAMED = 10;
/** And of those that had no room. */
const BUSY_NAMED = 2;

/**
 * Candidates that pass every filter. Where no agent in good standing could take such a task, be it busy right now, the
 * gate of the warm-up opens: a cold agent beats none. Where there is no cold one either, the policy may allow a panic:
 * then those that failed, or are coming back from it, are used as if they had not.
 * @param mostNamed how many of those that are passed over are named
 */
export function eligibleOf<C extends Candidate>(
  candidates: Iterable<C>,
  requirement: Requirement,
  panicAllowed: boolean,
  mostNamed = NAMED,
): Eligible<C> {
  const asked: [C, Rejection | undefined][] = [];
  let good = false;
  for (const c of candidates) {
    const rejection = rejectionOf(c, requirement);
    asked.push([c, rejection]);
    good ||= !c.throttled && isForRoom(rejection);
  }
  const open = good
    ? SHUT
    : gatesWithoutGood(
        asked.map(([c]) => c),
        requirement,
        panicAllowed,
      );
  const found: Eligible<C> = { agents: [], panic: open === ANYBODY, rejected: { counts: {}, named: [] } };
  for (const [c, first] of asked) {
    const rejection = good ? first : rejectionOf(c, requirement, open);
    if (rejection === undefined) found.agents.push(c);
    else note(found.rejected, c, rejection, mostNamed);
  }
  return found;
}

function note({ counts, named }: Rejected, { agentId }: Candidate, why: Rejection, mostNamed: number): void {
  const count = (counts[why.filter] = (counts[why.filter] ?? 0) + 1);
  // Under load nearly all are busy, which is no news: others are to be named.
  const isNews = why.filter !== 'capacity' || count <= BUSY_NAMED || mostNamed > NAMED;
  if (isNews && named.length < mostNamed) named.push({ agentId, ...why });
}

/** Candidates that `sampleEligible` looks at, for each that it shall find. */
const LOOKS = 8;

/**
 * So many of those that may take a task, drawn at random, from a look at a few: what a choice costs must not grow with the
 * fleet. A full look at 10 000 candidates takes about 10 ms.
 * Rejected are those alone that were looked at.
 * @returns undefined where the look did not find as many, or nobody in good standing: then `eligibleOf` has to look at all
 */
export function sampleEligible<C extends Candidate>(
  candidates: { readonly length: number; at(index: number): C | undefined },
  requirement: Requirement,
  wanted: number,
  rng: Rng,
): Eligible<C> | undefined {
  const next = shuffled(candidates.length, rng);
  const agents: C[] = [];
  const rejected: Rejected = { counts: {}, named: [] };
  let good = false;
  for (let looks = Math.min(wanted * LOOKS, candidates.length); looks > 0; looks--) {
    const c = candidates.at(next());
    if (c === undefined) continue;
    const rejection = rejectionOf(c, requirement);
    if (rejection !== undefined) {
      note(rejected, c, rejection, NAMED);
      continue;
    }
    good ||= !c.throttled;
    if (agents.push(c) === wanted) break;
  }
  return good && agents.length === wanted ? { agents, panic: false, rejected } : undefined;
}

function gatesOf(candidates: readonly Candidate[], requirement: Requirement, panicAllowed: boolean): Gates {
  return isGood(candidates, requirement, SHUT)
    ? SHUT
    : gatesWithoutGood(candidates, requirement, panicAllowed);
}

/** Where it is known already that nobody is in good standing who could take it with the gates shut. */
function gatesWithoutGood(
  candidates: readonly Candidate[],
  requirement: Requirement,
  panicAllowed: boolean,
): Gates {
  return !panicAllowed || isGood(candidates, requirement, COLD_TOO) ? COLD_TOO : ANYBODY;
}

function isGood(candidates: readonly Candidate[], requirement: Requirement, open: Gates): boolean {
  return candidates.some((c) => !c.throttled && isForRoom(rejectionOf(c, requirement, open)));
}

/** It lacks room at most. */
function isForRoom(rejection: Rejection | undefined): boolean {
  return rejection === undefined || rejection.filter === 'capacity';
}

/** Whether work of this requirement could be done at all now, were there room, and no better agent. */
export function isUsable(candidate: Candidate, requirement: Requirement): boolean {
  return isForRoom(rejectionOf(candidate, requirement, ANYBODY));
}

/** Whether a range can be understood at all; asked once, at admission. */
export function isVersionRange(range: string): boolean {
  return semver.validRange(range) !== null;
}

/** What a set of candidates says about a requirement that nobody could take. */
export interface Shortage {
  /** none capable; capable but none reachable; reachable but all busy */
  kind: 'no_capable' | 'no_reachable' | 'busy';
  rejections: Refusal[];
}

export interface Refusal extends Rejection {
  agentId: string;
}

/**
 * A candidate that passes every filter here and yet took nothing: its slots were held through other
 * dispatchers, or came free this very moment.
 */
const HELD_ELSEWHERE: Rejection = { filter: 'capacity', reason: 'busy: all its slots were in use' };

/** Explains why no candidate took the task; the most hopeful kind wins. Names at most `limit` candidates. */
export function explainShortage(
  candidates: Iterable<Candidate>,
  requirement: Requirement,
  panicAllowed: boolean,
  limit = 10,
): Shortage {
  let kind: Shortage['kind'] = 'no_capable';
  const rejections: Refusal[] = [];
  const all = [...candidates];
  const open = gatesOf(all, requirement, panicAllowed);
  for (const c of all) {
    const rejection = rejectionOf(c, requirement, open) ?? HELD_ELSEWHERE;
    if (rejection.filter === 'capacity') kind = 'busy';
    else if (REACH_FILTERS.has(rejection.filter) && kind === 'no_capable') kind = 'no_reachable';
    if (rejections.length < limit) rejections.push({ agentId: c.agentId, ...rejection });
  }
  return { kind, rejections };
}
