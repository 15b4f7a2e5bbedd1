/**
 * Life of a task, and of its current delivery, as one table. The SQL CHECKs, the guards of every statement
 * and the tests are held against it.
 *
 * scheduled: waits for its time (a delay, or the pause before a retry). queued: waits for an agent.
 * offered: an agent was chosen and has not acknowledged yet. running: the agent's ACK was answered
 * `execute: true`. The other four are terminal and never left.
 */
export const TASK_STATES = [
  'scheduled',
  'queued',
  'offered',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export const TERMINAL_STATES = ['succeeded', 'failed', 'canceled', 'expired'] as const;
export type TerminalState = (typeof TERMINAL_STATES)[number];

/**
 * What can happen to a task.
 * `retry`: the delivery failed and another attempt is allowed. `release`: the agent gives the delivery back
 * unstarted or the centre takes it back in an orderly way; no attempt is charged.
 */
export const TASK_EVENTS = [
  'due',
  'offer',
  'ack',
  'succeed',
  'retry',
  'release',
  'fail',
  'cancel',
  'expire',
] as const;
export type TaskEvent = (typeof TASK_EVENTS)[number];

interface Transition {
  readonly from: readonly TaskState[];
  readonly to: TaskState;
}

/** The one transition table. A push agent may report a result before its ACK is known, hence succeed from offered. */
export const TASK_TRANSITIONS: Readonly<Record<TaskEvent, Transition>> = {
  due: { from: ['scheduled'], to: 'queued' },
  offer: { from: ['queued'], to: 'offered' },
  ack: { from: ['offered'], to: 'running' },
  succeed: { from: ['offered', 'running'], to: 'succeeded' },
  retry: { from: ['offered', 'running'], to: 'scheduled' },
  release: { from: ['offered', 'running'], to: 'queued' },
  fail: { from: ['scheduled', 'queued', 'offered', 'running'], to: 'failed' },
  cancel: { from: ['scheduled', 'queued', 'offered', 'running'], to: 'canceled' },
  expire: { from: ['scheduled', 'queued'], to: 'expired' },
};

const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_STATES);

/** Whether `state` is never left. */
export function isTerminal(state: string): state is TerminalState {
  return TERMINAL.has(state);
}

/** The state after `event`, or undefined where the table forbids it. */
export function nextTaskState(state: TaskState, event: TaskEvent): TaskState | undefined {
  const transition = TASK_TRANSITIONS[event];
  return transition.from.includes(state) ? transition.to : undefined;
}

/** How a closed delivery ended. `released` charged no attempt. */
export const DELIVERY_OUTCOMES = ['succeeded', 'failed', 'canceled', 'released'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** A delivery is named by its task and the fence that its creation raised. */
export interface DeliveryRef {
  taskId: string;
  fence: number;
}

/** The delivery's id on the wire: `<task id>.<fence>`. */
export function deliveryIdOf(taskId: string, fence: number): string {
  return `${taskId}.${fence}`;
}

/** Reads a wire delivery id that a schema has already accepted. */
export function parseDeliveryId(id: string): DeliveryRef {
  const dot = id.lastIndexOf('.');
  return { taskId: id.slice(0, dot), fence: Number(id.slice(dot + 1)) };
}
