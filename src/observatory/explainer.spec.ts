import { laneOf } from '../core/lane.js';
import { DEFAULT_POLICY } from '../core/policy.js';
import type { AgentRow } from '../registry/agent-row.js';
import { ReachEntry, type ReachTable } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import { Hindrances } from '../scheduler/hindrances.js';
import type { Lanes } from '../scheduler/lanes.js';
import type { DeliveryRow, TaskRow } from '../scheduler/task-row.js';
import type { TaskStore } from '../scheduler/task.store.js';
import type { Tasks } from '../scheduler/tasks.js';
import type { AttributionStore } from './attribution.store.js';
import { Explainer } from './explainer.js';

const AT = new Date('2030-01-01T00:00:00.000Z');
const TASK = '01a229bb-ed88-70e3-a783-bd40b56fcf99';

const failedAt = (fence: number) =>
  ({
    fence,
    attempt: fence,
    agent_id: 'a1',
    outcome: 'failed',
    code: null,
    offered_at: AT,
    acked_at: AT,
    finished_at: AT,
  }) as DeliveryRow;

/** The headline of a task in that state, after so many failed attempts. */
async function headline(
  task: Partial<TaskRow>,
  failures = 0,
  switches = new Switches(),
  table: Pick<ReachTable, 'candidates'> = { candidates: () => [] },
  lanes: Pick<Lanes, 'failureOf'> = { failureOf: () => undefined },
): Promise<string> {
  const lane = laneOf({ namespace: 'default', capabilities: [{ name: 'work' }] });
  const row = {
    id: TASK,
    lane,
    capability: 'work',
    created_at: AT,
    finished_at: null,
    fallback: null,
    ...task,
  } as TaskRow;
  const explainer = new Explainer(
    { require: () => Promise.resolve(row) } as unknown as Tasks,
    {
      snapshot: (work: (on: object) => unknown) => work({}),
      deliveries: () => Promise.resolve(Array.from({ length: failures }, (_, i) => failedAt(i + 1))),
    } as unknown as TaskStore,
    {
      page: () => Promise.resolve([]),
      agentMoments: () => Promise.resolve([]),
    } as unknown as AttributionStore,
    new Hindrances(
      table as ReachTable,
      switches,
      lanes as Lanes,
      {
        for: () => ({ policy: DEFAULT_POLICY }),
      } as never,
    ),
  );
  return (await explainer.explain('default', TASK)).headline;
}

it.each([
  [0, 'succeeded at a2'],
  [1, 'succeeded at a2 after 1 failed attempt'],
  [2, 'succeeded at a2 after 2 failed attempts'],
])('counts the attempts that failed: %i', async (failures, text) => {
  expect(await headline({ state: 'succeeded', agent_id: 'a2', finished_at: AT }, failures)).toBe(text);
});

it.each([
  ['', null],
  ['; its last word is "page 3"', { note: 'page 3' }],
])('says where a task runs, and what was said of it last%s', async (text, progress) => {
  const at = { offered_at: AT, acked_at: AT, deadline_at: AT };
  const running = { state: 'running', agent_id: 'a1', fence: 1, ...at, progress } as const;
  expect(await headline(running)).toBe(`runs at a1 since 2030-01-01T00:00:00.000Z${text}`);
});

it('says what a retry waits for', async () => {
  const text = await headline({ state: 'scheduled', agent_id: null, run_at: AT }, 1);
  expect(text).toBe('waits for its time, 2030-01-01T00:00:00.000Z, after 1 failed attempt');
});

it('says that the capability is paused, with the reason of the operator if there is one', async () => {
  const queued = { state: 'queued', agent_id: null, offered_at: null } as const;
  const paused = (reason: string) => {
    const switches = new Switches();
    switches.replace([{ namespace: 'default', capability: 'work', paused: true, reason }]);
    return headline(queued, 0, switches);
  };
  expect(await paused('the printer burns')).toBe('waits: capability work is paused: the printer burns');
  expect(await paused('')).toBe('waits: capability work is paused');
});

it('says why tasks cannot be given out, where an agent could take them', async () => {
  const queued = { state: 'queued', agent_id: null, offered_at: null } as const;
  const lanes = { failureOf: () => 'Redis cannot be used (not connected)' };
  const agent = (state: string) => {
    const row = { namespace: 'default', agent_id: 'a1', name: 'a1', capabilities: [{ name: 'work' }], state };
    const rest = {
      state_reason: 'so',
      max_concurrency: 1,
      metadata: {},
      tags: [],
      endpoint: null,
      dependencies: [],
      facts: {},
      hold_reason: null,
    };
    return { candidates: () => [new ReachEntry({ ...row, ...rest } as unknown as AgentRow, 0)] };
  };
  const told = (state: string) => headline(queued, 0, new Switches(), agent(state), lanes);
  expect(await told('online')).toBe(
    'waits: tasks cannot be given out now: Redis cannot be used (not connected)',
  );
  expect(await told('offline')).toBe('waits: no agent with work is reachable: a1 offline: so');
});
