import type { Config } from '../platform/config/config.js';
import type { AgentRow } from './agent-row.js';
import { ReachTable } from './reach-table.js';

const NEED = { namespace: 'default', capabilities: [{ name: 'work' }] };

function rowOf(i: number, over: object = {}): AgentRow {
  const row = {
    namespace: 'default',
    agent_id: `a${i}`,
    name: 'fleet',
    capabilities: [{ name: 'work' }],
    dependencies: [],
    metadata: {},
    tags: [],
    facts: {},
    features: [],
    state: 'online',
    max_concurrency: 1,
    weight: 100,
    removed_at: null,
    rev: 1,
    ...over,
  };
  return row as unknown as AgentRow;
}

function tableOf(agents: number, over: (i: number) => object = () => ({})): ReachTable {
  const table = new ReachTable({ warmUpProbes: 0 } as Config);
  for (let i = 0; i < agents; i++) table.apply(rowOf(i, over(i)));
  return table;
}

test('of a large fleet some are drawn, enough for the tasks, and of a small one all', () => {
  expect(tableOf(20).someEligible(NEED, 1, true).agents).toHaveLength(20);
  expect(tableOf(500).someEligible(NEED, 1, true).agents).toHaveLength(12);
  expect(tableOf(500).someEligible(NEED, 50, true).agents).toHaveLength(110);
  expect(tableOf(500).someEligible(NEED, 1000, true).agents).toHaveLength(500);
});

test('where hardly any can take the task, those few are found all the same', () => {
  const table = tableOf(500, (i) => ({ state: i === 317 ? 'online' : 'offline' }));
  expect(table.someEligible(NEED, 1, true).agents.map((e) => e.agentId)).toEqual(['a317']);
});

test('an agent that is gone, or offers something else now, is a candidate no more', () => {
  const table = tableOf(3);
  table.apply(rowOf(0, { removed_at: new Date(), rev: 2 }));
  table.apply(rowOf(1, { capabilities: [{ name: 'play' }], rev: 2 }));
  expect([...table.candidates(NEED)].map((e) => e.agentId)).toEqual(['a2']);
});
