import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  AGENT_RULES,
  AGENT_STATES,
  AGENT_TRANSITIONS,
  judgeAgent,
  mayChange,
  WORKING_STATES,
  type AgentFacts,
  type AgentState,
} from './agent-state.js';
import { STANDINGS } from './verdict.js';

const facts = (over: Partial<AgentFacts>): AgentFacts => ({
  lease: 'live',
  heartbeat: 'fresh',
  session: 'none',
  leaving: false,
  echo: 'unknown',
  dependencies: [],
  ...over,
});
const db = (standing: 'suspect' | 'bad', critical: boolean, fault?: string) => ({
  dependencies: [
    { name: 'mail', critical: false, standing: 'good' as const },
    { name: 'db', critical, standing, ...(fault !== undefined && { fault }) },
  ],
});

test.each<[Partial<AgentFacts>, AgentState, string]>([
  [{}, 'online', 'heartbeat fresh'],
  [{ session: 'open', echo: 'good' }, 'online', 'heartbeat fresh'],
  [{ heartbeat: 'missed' }, 'suspicious', 'heartbeat missed'],
  [{ session: 'broken' }, 'suspicious', 'session broken'],
  [{ session: 'broken', lease: 'ended' }, 'offline', 'lease expired'],
  [{ heartbeat: 'missed', lease: 'ended' }, 'offline', 'lease expired'],
  [{ heartbeat: 'dead', lease: 'ended', echo: 'suspect' }, 'offline', 'lease expired'],
  [{ heartbeat: 'dead', lease: 'ended', echo: 'bad' }, 'offline', 'lease expired'],
  [{ heartbeat: 'missed', lease: 'ended', echo: 'good' }, 'suspicious', 'heartbeat missed'],
  [{ lease: 'ended', echo: 'good' }, 'suspicious', 'lease expired, echo answers'],
  [{ lease: 'ended', echo: 'good', session: 'broken' }, 'offline', 'lease expired'],
  [{ echo: 'suspect' }, 'suspicious', 'echo failed, being confirmed'],
  [{ echo: 'bad' }, 'suspicious', 'echo unanswered'],
  [db('suspect', true), 'suspicious', 'critical dependency db failed, being confirmed'],
  [db('suspect', true, 'refused'), 'suspicious', 'critical dependency db (refused) failed, being confirmed'],
  [db('bad', true, 'refused'), 'degraded', 'critical dependency db (refused) is down'],
  [db('suspect', false), 'online', 'heartbeat fresh'],
  [db('bad', false), 'degraded', 'optional dependency db is down'],
  [{ ...db('bad', true), echo: 'bad' }, 'suspicious', 'echo unanswered'],
  [{ ...db('bad', true), heartbeat: 'missed' }, 'suspicious', 'heartbeat missed'],
  [{ leaving: true }, 'removing', 'deregistered'],
  [{ leaving: true, lease: 'ended', session: 'broken' }, 'removing', 'deregistered'],
])('%j is %s: %s', (given, state, reason) => {
  expect(judgeAgent(facts(given))).toEqual({ state, reason });
});

const anyFacts = fc.record<AgentFacts>({
  lease: fc.constantFrom('live', 'ended'),
  heartbeat: fc.constantFrom('fresh', 'missed', 'dead'),
  session: fc.constantFrom('open', 'broken', 'none'),
  leaving: fc.boolean(),
  echo: fc.constantFrom(...STANDINGS),
  dependencies: fc.array(
    fc.record({ name: fc.string(), critical: fc.boolean(), standing: fc.constantFrom(...STANDINGS) }),
    { maxLength: 4 },
  ),
});

test('no sequence of facts skips the table, or brings a removed or lost agent back', () => {
  fc.assert(
    fc.property(fc.array(anyFacts), (sequence) => {
      let state: AgentState = 'online';
      for (const given of sequence) {
        const next = judgeAgent(given).state;
        const before = state;
        if (mayChange(state, next)) state = next;
        expect(state === before || AGENT_TRANSITIONS[before].includes(state)).toBe(true);
        if (before === 'removing') expect(state).toBe('removing');
        if (before === 'offline') expect(['offline', 'removing']).toContain(state);
      }
    }),
  );
});

test('whatever the facts, an agent with a sign of trouble of its own gets no work', () => {
  fc.assert(
    fc.property(anyFacts, (given) => {
      const trouble =
        given.leaving ||
        given.lease === 'ended' ||
        given.heartbeat !== 'fresh' ||
        given.session === 'broken' ||
        given.echo === 'bad' ||
        given.echo === 'suspect';
      if (trouble) expect(WORKING_STATES).not.toContain(judgeAgent(given).state);
    }),
  );
});

test('every rule is the first to match some facts', () => {
  const matched = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (given) => {
      matched.add(AGENT_RULES.find((r) => r.when(given))?.label ?? '');
    }),
    { numRuns: 20_000, seed: 1 },
  );
  expect([...matched].sort()).toEqual(AGENT_RULES.map((r) => r.label).sort());
});

test('work is offered in working states only, and those are states', () => {
  expect(WORKING_STATES).not.toContain('suspicious');
  for (const state of AGENT_STATES) expect(AGENT_TRANSITIONS[state]).not.toContain(state);
});

const migration = (name: string) =>
  readFileSync(new URL(`../../migrations/${name}.ts`, import.meta.url), 'utf8');

test('the CHECKs of the database name the same states', () => {
  const sql = migration('1764500000000-registry');
  const lists = [...sql.matchAll(/CHECK \((?:state|to_state) IN \(([^)]*)\)\)/g)].map((m) => m[1]);
  expect(lists).toHaveLength(2);
  for (const list of lists) expect(list).toBe(AGENT_STATES.map((s) => `'${s}'`).join(', '));
});

test('the trigger of the database lets the same changes pass', () => {
  const sql = migration('1764500004000-facts');
  const passing = [...sql.matchAll(/'(\w+) > (\w+)'/g)].map((m) => `${m[1]} > ${m[2]}`);
  const table = AGENT_STATES.flatMap((from) => AGENT_TRANSITIONS[from].map((to) => `${from} > ${to}`));
  expect(passing.sort()).toEqual(table.sort());
});
