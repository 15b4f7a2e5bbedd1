import { type HttpOptions } from './http.js';
import { type AgentState, type Blame, type TaskState } from './wire.js';

export interface ClientOptions extends Partial<HttpOptions> {
  /** Used where a call names none; default `default`. */
  namespace?: string;
}

export interface EnqueueOptions {
  /** The same key and task always name one task. Left out: one is made, so that repeats by the client are safe. */
  idempotencyKey?: string;
  traceparent?: string;
}

/** Which namespace a call is about. */
export interface InNamespace {
  /** Default: that of the client. */
  namespace?: string | undefined;
}

export interface WaitOptions extends InNamespace {
  /** How long to wait; default 5 minutes. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal;
}

export interface TaskFilter {
  namespace?: string | undefined;
  state?: TaskState | undefined;
  capability?: string | undefined;
  agent_id?: string | undefined;
  code?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export interface AgentFilter {
  namespace?: string | undefined;
  capability?: string | undefined;
  name?: string | undefined;
  state?: AgentState | undefined;
  tag?: string | undefined;
  include_removed?: boolean | undefined;
}

export interface AttributionFilter {
  namespace?: string | undefined;
  task_id?: string | undefined;
  code?: string | undefined;
  blame?: Blame | undefined;
  agent_id?: string | undefined;
  dependency?: string | undefined;
  capability?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}
