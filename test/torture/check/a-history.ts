import type {
  AgentLine,
  AttributionRow,
  ClientLine,
  DeliveryRow,
  FaultLine,
  History,
  LeaseRow,
  TaskRow,
  Transition,
} from './history.js';

/** A history by hand: one task, one agent, all well; `but` changes parts of it, to break one rule. */
export function historyOf(but: Partial<History> = {}): History {
  return {
    client: [settled(), { at: 9, event: 'seen', task: 't1', state: 'succeeded', result: result() }],
    agents: [process(), begin(), end()],
    faults: [],
    tasks: [task()],
    deliveries: [delivery()],
    attributions: [],
    transitions: path('queued', 'offered', 'running', 'succeeded'),
    leases: [{ at: 0, agent_id: 'a1' }],
    keys: [{ key: 'k1', task_id: 't1' }],
    counters: undefined,
    concurrency: new Map([
      ['a1', 1],
      ['a2', 1],
    ]),
    bounds: { leaseTtlMs: 4000, sweepMs: 500, deadAfterMs: 3000, amplification: 1.1 },
    ...but,
  };
}

export const result = (token = 't1.1@1') => ({ n: 1, token });

export const task = (but: Partial<TaskRow> = {}): TaskRow => ({
  id: 't1',
  n: 1,
  state: 'succeeded',
  fence: 1,
  attempt: 1,
  max_attempts: 4,
  idempotent: true,
  capability: 'work',
  result: result(),
  ...but,
});

export const delivery = (but: Partial<DeliveryRow> = {}): DeliveryRow => ({
  task_id: 't1',
  fence: 1,
  attempt: 1,
  agent_id: 'a1',
  outcome: 'succeeded',
  code: null,
  ...but,
});

export const attribution = (but: Partial<AttributionRow> = {}): AttributionRow => ({
  task_id: 't1',
  fence: 1,
  final: false,
  code: 'AGENT_ERROR',
  ...but,
});

export const settled = (but: Partial<Extract<ClientLine, { event: 'settled' }>> = {}): ClientLine => ({
  at: 1,
  event: 'settled',
  key: 'k1',
  status: 202,
  task: 't1',
  deduplicated: false,
  ...but,
});

type Executed = { at?: number; agent?: string; task?: string; delivery?: string };

export const process = (at = 0, ...agents: string[]): AgentLine => ({
  at,
  event: 'process',
  pid: 1,
  agents: agents.length === 0 ? ['a1'] : agents,
});

export const begin = (but: Executed = {}): AgentLine => ({
  at: 3,
  event: 'begin',
  agent: 'a1',
  task: 't1',
  delivery: 't1.1',
  attempt: 1,
  ...but,
});

export const end = (but: Executed & { fate?: string; token?: string } = {}): AgentLine => ({
  at: 4,
  event: 'end',
  agent: 'a1',
  task: 't1',
  delivery: 't1.1',
  fate: 'well',
  token: 't1.1@1',
  ...but,
});

/** The states that a task goes through, one a millisecond from `from` on; each offer raises the fence and goes to `agent`. */
export function path(...states: Transition['state'][]): Transition[] {
  return pathOf({}, ...states);
}

export function pathOf(
  { task = 't1', agent = 'a1', from = 1 }: { task?: string; agent?: string; from?: number },
  ...states: Transition['state'][]
): Transition[] {
  let fence = 0;
  return states.map((state, i) => {
    if (state === 'offered') fence += 1;
    return {
      at: from + i,
      task_id: task,
      was: states[i - 1] ?? null,
      state,
      fence,
      agent_id: fence === 0 ? null : agent,
    };
  });
}

/** A fault of the nemesis from `from` to `to`. */
export const fault = (
  kind: Extract<FaultLine, { event: 'start' }>['kind'],
  from: number,
  to: number,
): FaultLine[] => [
  { at: from, event: 'start', n: from, kind, target: 0, agents: ['a1'] },
  { at: to, event: 'stop', n: from, kind, target: 0 },
];

export const lease = (at: number, agent_id = 'a1'): LeaseRow => ({ at, agent_id });
