import type { FaultKind } from '../plan/schedule.js';

/*
 * What a run left behind, of all who wrote: the client, the agents and the nemesis in their ledgers, Postgres in
 * the product's tables and in the ones that the run's own triggers filled. All times are milliseconds of the
 * machine's monotonic clock.
 */

export type End = 'succeeded' | 'failed' | 'canceled' | 'expired';
export type TaskState = 'scheduled' | 'queued' | 'offered' | 'running' | End;
export const ENDS: ReadonlySet<string> = new Set<End>(['succeeded', 'failed', 'canceled', 'expired']);

/** A line of the client's ledger. */
export type ClientLine = { at: number } & (
  | { event: 'call'; call: string; key?: string; task?: string }
  | {
      event: 'answer';
      call: string;
      key?: string;
      task?: string;
      status: number;
      took_ms: number;
      code?: string;
    }
  | { event: 'settled'; key: string; status: number; task?: string; deduplicated: boolean; again?: boolean }
  | { event: 'canceled'; task: string; canceled: boolean; state: TaskState }
  | { event: 'seen'; task: string; state: TaskState; result?: unknown }
  | { event: 'not_found'; task: string }
  | { event: 'gave_up'; key: string }
  | { event: 'done' }
);

/** A line of the agents' ledgers. */
export type AgentLine = { at: number } & (
  | { event: 'process'; pid: number; agents: string[] }
  | { event: 'registered'; agent: string; lease: string }
  | { event: 'begin'; agent: string; task: string; delivery: string; attempt: number }
  | { event: 'end'; agent: string; task: string; delivery: string; fate: string; token: string }
  | { event: 'lease_lost' | 'dropped' | 'stopped' | 'error'; agent: string }
);

/** A line of the nemesis's ledger. */
export type FaultLine = { at: number } & (
  | { event: 'start'; n: number; kind: FaultKind; target: number; agents: string[] }
  | { event: 'stop' | 'not_healed'; n: number; kind: FaultKind; target: number; error?: string }
  | { event: 'dead'; agents: string[] }
  /** A dispatcher lives with other settings from here to there. */
  | { event: 'set' | 'unset'; n: number }
  /** The machine was too busy: nobody's deadlines could be met. */
  | { event: 'stall'; ms: number; of?: string }
  | { event: 'failpoint'; n: number; armed: string; hit: boolean }
  /** The sampler found the slot of a delivery that had ended some time ago. */
  | { event: 'slot_kept'; delivery: string }
  | { event: 'exit'; target: number; code: number | null }
);

export interface TaskRow {
  id: string;
  n: number;
  state: TaskState;
  fence: number;
  attempt: number;
  max_attempts: number;
  idempotent: boolean;
  capability: string;
  result: { n: number; token: string } | null;
}

export interface DeliveryRow {
  task_id: string;
  fence: number;
  attempt: number;
  agent_id: string;
  outcome: 'succeeded' | 'failed' | 'canceled' | 'released';
  code: string | null;
}

export interface AttributionRow {
  task_id: string;
  fence: number | null;
  final: boolean;
  code: string;
}

/** A change of a task's row, noted by a trigger of the run's own. */
export interface Transition {
  at: number;
  task_id: string;
  was: TaskState | null;
  state: TaskState;
  fence: number;
  agent_id: string | null;
}

/** A lease that an agent got, noted by a trigger of the run's own. */
export interface LeaseRow {
  at: number;
  agent_id: string;
}

export interface KeyRow {
  key: string;
  task_id: string;
}

export interface Bounds {
  leaseTtlMs: number;
  sweepMs: number;
  /** An agent that was killed gets no offer later than this. */
  deadAfterMs: number;
  /** Most deliveries a task, on the average, while nothing is broken. */
  amplification: number;
}

export interface History {
  client: ClientLine[];
  agents: AgentLine[];
  faults: FaultLine[];
  tasks: TaskRow[];
  deliveries: DeliveryRow[];
  attributions: AttributionRow[];
  transitions: Transition[];
  keys: KeyRow[];
  leases: LeaseRow[];
  /** What the dispatchers' metrics say at the end, summed over all; absent where one of them began anew. */
  counters: ReadonlyMap<string, number> | undefined;
  /** Most work at a time, as each agent declared it. */
  concurrency: ReadonlyMap<string, number>;
  bounds: Bounds;
}

/** One thing that must not be. */
export interface Violation {
  what: string;
  task?: string;
}

/** An invariant: what it says, and what breaks it in a history. */
export interface Check {
  name: string;
  says: string;
  find(history: Indexed): Violation[];
}

/** A history with the ways into it that checks need. */
export class Indexed {
  readonly tasks: ReadonlyMap<string, TaskRow>;
  readonly deliveries: ReadonlyMap<string, DeliveryRow[]>;
  readonly attributions: ReadonlyMap<string, AttributionRow[]>;
  readonly transitions: ReadonlyMap<string, Transition[]>;
  /** Executions by task, in order. */
  readonly executions: ReadonlyMap<string, Execution[]>;

  constructor(readonly of: History) {
    this.tasks = new Map(of.tasks.map((t) => [t.id, t]));
    this.deliveries = grouped(of.deliveries, (d) => d.task_id);
    this.attributions = grouped(of.attributions, (a) => a.task_id);
    this.transitions = grouped(of.transitions, (t) => t.task_id);
    this.executions = grouped(executionsOf(of.agents), (e) => e.task);
  }
}

/** A handler's run. */
export interface Execution {
  task: string;
  delivery: string;
  agent: string;
  began: number;
  /** absent: it was killed, or never came to its end */
  ended?: number;
  fate?: string;
  token?: string;
}

/** Fence of a delivery id, `<task>.<fence>`. */
export function fenceOf(delivery: string): number {
  return Number(delivery.slice(delivery.lastIndexOf('.') + 1));
}

function executionsOf(lines: readonly AgentLine[]): Execution[] {
  const executions: Execution[] = [];
  const open = new Map<string, Execution>();
  for (const line of lines) {
    if (line.event === 'begin') {
      const { task, delivery, agent } = line;
      const execution: Execution = { task, delivery, agent, began: line.at };
      executions.push(execution);
      open.set(`${agent} ${delivery}`, execution);
    } else if (line.event === 'end') {
      const execution = open.get(`${line.agent} ${line.delivery}`);
      if (execution === undefined) continue;
      execution.ended = line.at;
      execution.fate = line.fate;
      execution.token = line.token;
    }
  }
  return executions;
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
