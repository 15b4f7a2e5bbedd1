import { fault, historyOf, pathOf } from './a-history.js';
import { type History, Indexed } from './history.js';
import { recoveriesOf } from './recovery.js';

const again = (task: string, at: number) => [
  ...pathOf({ task, from: 997 }, 'queued', 'offered', 'running'),
  ...pathOf({ task, agent: 'a2', from: at - 1 }, 'offered', 'running', 'succeeded'),
];
const killed: History['faults'] = [
  ...fault('kill_agents', 1000, 5000),
  { at: 1001, event: 'dead', agents: ['a1'] },
];
const agentKills = (but: Partial<History>) => recoveriesOf(new Indexed(historyOf(but)))[0];

test('from the death of an agent to the next run of what it ran', () => {
  const transitions = [...again('t1', 2001), ...again('t2', 3001), ...again('t3', 4001)];
  expect(agentKills({ faults: killed, transitions })).toMatchObject({ n: 3, p50Ms: 2000, p99Ms: 3000 });
});

test('a death beside another fault tells nothing', () => {
  const faults = [...killed, ...fault('kill_postgres', 1500, 1600)];
  expect(agentKills({ faults, transitions: again('t1', 2001) })).toMatchObject({ n: 0, p50Ms: null });
});

test('what waited when a dispatcher was killed, and when Redis was emptied', () => {
  const faults = [...fault('kill_dispatcher', 1000, 1500), ...fault('flushall', 20_000, 20_001)];
  const transitions = [
    ...pathOf({ from: 900 }, 'queued'),
    ...pathOf({ from: 1300 }, 'offered'),
    ...pathOf({ task: 't2', from: 20_101 }, 'offered'),
  ];
  expect(recoveriesOf(new Indexed(historyOf({ faults, transitions }))).slice(1)).toMatchObject([
    { n: 1, p50Ms: 300 },
    { n: 1, p50Ms: 100 },
  ]);
});
