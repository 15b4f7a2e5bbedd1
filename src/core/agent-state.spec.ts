import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  AGENT_STATES,
  AGENT_TRANSITIONS,
  judgeAgent,
  mayChange,
  WORKING_STATES,
  type AgentFacts,
} from './agent-state.js';

const facts = (over: Partial<AgentFacts>): AgentFacts => ({
  lease: 'live',
  heartbeat: 'fresh',
  session: 'none',
  leaving: false,
  ...over,
});

test.each([
  [facts({}), 'online', 'heartbeat fresh'],
  [facts({ session: 'open' }), 'online', 'heartbeat fresh'],
  [facts({ heartbeat: 'missed' }), 'suspicious', 'heartbeat missed'],
  [facts({ session: 'broken' }), 'suspicious', 'session broken'],
  [facts({ session: 'broken', lease: 'ended' }), 'offline', 'lease expired'],
  [facts({ heartbeat: 'missed', lease: 'ended' }), 'offline', 'lease expired'],
  [facts({ leaving: true }), 'removing', 'deregistered'],
  [facts({ leaving: true, lease: 'ended', session: 'broken' }), 'removing', 'deregistered'],
])('%j is %s: %s', (given, state, reason) => {
  expect(judgeAgent(given)).toEqual({ state, reason });
});

test('no sequence of facts brings a removed or lost agent back', () => {
  const anyFacts = fc.record<AgentFacts>({
    lease: fc.constantFrom('live', 'ended'),
    heartbeat: fc.constantFrom('fresh', 'missed'),
    session: fc.constantFrom('open', 'broken', 'none'),
    leaving: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(anyFacts), (sequence) => {
      let state = AGENT_STATES[0] as (typeof AGENT_STATES)[number];
      for (const given of sequence) {
        const next = judgeAgent(given).state;
        const before = state;
        if (mayChange(state, next)) state = next;
        if (before === 'removing') expect(state).toBe('removing');
        if (before === 'offline') expect(['offline', 'removing']).toContain(state);
      }
    }),
  );
});

test('work is offered in working states only, and those are states', () => {
  expect(WORKING_STATES).not.toContain('suspicious');
  for (const state of AGENT_STATES) expect(AGENT_TRANSITIONS[state]).not.toContain(state);
});

test('the CHECKs of the database name the same states', () => {
  const sql = readFileSync(new URL('../../migrations/1764500000000-registry.ts', import.meta.url), 'utf8');
  const lists = [...sql.matchAll(/CHECK \((?:state|to_state) IN \(([^)]*)\)\)/g)].map((m) => m[1]);
  expect(lists).toHaveLength(2);
  for (const list of lists) expect(list).toBe(AGENT_STATES.map((s) => `'${s}'`).join(', '));
});
