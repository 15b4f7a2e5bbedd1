import type { TaskState } from '../core/task-state.js';
import type { OnDegrade } from './policy/policy.wire.js';
import { fallbackView, type FallbackUsed } from './task-row.js';

/** A row of the outbox that is due, with the task that it tells of as it is now. */
export interface DueCallback {
  task_id: string;
  /** What is told: that the task ended, went to a fallback, or failed as nobody could be reached for it. */
  kind: 'ended' | 'degraded' | 'unplaceable';
  url: string;
  host: string;
  attempt: number;
  /** Of one try, and tries; null: as for every callback. */
  timeout_ms: number | null;
  max_attempts: number | null;
  noted_at: Date;
  namespace: string;
  capability: string;
  state: TaskState;
  task_attempt: number;
  agent_id: string | null;
  result: unknown;
  error: unknown;
  meta: unknown;
  fallback: FallbackUsed | null;
  created_at: Date;
  finished_at: Date | null;
}

/** Parameters of statements that put a note for `told` into the outbox. */
export function recipient(told: OnDegrade | null): [string | null, number | null, number | null] {
  return told === null ? [null, null, null] : [told.url, told.timeout_ms ?? null, told.max_attempts ?? null];
}

/** The same however often it is sent. A task tells each thing once. */
export function eventId({ task_id, kind }: DueCallback): string {
  return kind === 'ended' ? task_id : `${task_id}-${kind}`;
}

/** What is sent: a CloudEvent, structured. */
export function cloudEvent(c: DueCallback): Record<string, unknown> {
  const told = c.kind === 'ended' ? c.state : c.kind;
  return {
    specversion: '1.0',
    id: eventId(c),
    source: `/namespaces/${encodeURIComponent(c.namespace)}/tasks`,
    type: `dev.agentreach.task.${told}.v1`,
    subject: c.task_id,
    time: (c.kind === 'ended' ? (c.finished_at ?? c.noted_at) : c.noted_at).toISOString(),
    datacontenttype: 'application/json',
    data: {
      task_id: c.task_id,
      namespace: c.namespace,
      capability: c.capability,
      ...(c.kind === 'ended' ? endOf(c) : degradationOf(c)),
      ...(c.fallback !== null && { fallback_used: fallbackView(c.fallback) }),
    },
  };
}

function endOf(c: DueCallback): Record<string, unknown> {
  return {
    state: c.state,
    attempt: c.task_attempt,
    ...(c.agent_id !== null && { agent_id: c.agent_id }),
    created_at: c.created_at.toISOString(),
    ...(c.finished_at !== null && { finished_at: c.finished_at.toISOString() }),
    ...(c.state === 'succeeded' && { result: c.result }),
    ...(c.meta !== null && { meta: c.meta }),
    ...(c.error !== null && { error: c.error }),
  };
}

/** Nothing of what became of the task since: it may have ended by now, and that is told elsewhere. */
function degradationOf(c: DueCallback): Record<string, unknown> {
  return {
    outcome: c.kind === 'degraded' ? 'fallback' : 'failed',
    created_at: c.created_at.toISOString(),
    ...(c.kind === 'unplaceable' && { error: c.error }),
  };
}
