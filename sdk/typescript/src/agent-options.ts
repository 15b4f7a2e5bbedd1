import { type DedupStore } from './dedup.js';
import { type Handler } from './handlers.js';
import { type Logger } from './logger.js';
import { type ProbeTool } from './probe-tool.js';
import { type DependencyDeclaration, type Offer } from './wire.js';

export interface AgentOptions {
  /** The centre; several URLs lead to the same centre. Default: `REACH_URL`, else `http://127.0.0.1:8080`. */
  url?: string | readonly string[] | undefined;
  /** Default: `REACH_TOKEN`. */
  token?: string | undefined;
  namespace?: string | undefined;
  /** Unique per running instance. */
  agentId: string;
  /** The logical agent; instances of one name form a group. Default: the id. */
  name?: string | undefined;
  /** A handler per capability; more, with versions and schemas, by `handle`. */
  capabilities?: Record<string, Handler> | undefined;
  dependencies?: DependencyDeclaration[] | undefined;
  /** `session` (default) falls back to `pull` by itself; `push` needs an `endpoint`. */
  transport?: 'session' | 'pull' | 'push' | undefined;
  /** Where the centre pushes to; see `pushHandler`. */
  endpoint?: string | undefined;
  /** How many handlers run at once; default 1. */
  maxConcurrency?: number | undefined;
  heartbeatIntervalMs?: number | undefined;
  leaseTtlMs?: number | undefined;
  /** A call to the centre without an answer for so long means that the connection is dead; default 5 s. */
  answerTimeoutMs?: number | undefined;
  /** Which tasks were handled; default: by this process. `RedisDedup` lets agents share it. */
  dedup?: DedupStore | undefined;
  /** Checks for the centre’s deep ping whether the agent could work now; default: it could, as it answers. */
  probe?: ProbeTool | undefined;
  weight?: number | undefined;
  tags?: string[] | undefined;
  metadata?: Record<string, unknown> | undefined;
  logger?: Logger | undefined;
}

export interface StartOptions {
  /** How long to keep trying for the first registration; default: for ever. */
  startTimeoutMs?: number | undefined;
}

export interface StopOptions {
  /** How long running handlers may go on; default 30 s. Then their signal fires. */
  drainMs?: number | undefined;
}

export interface RunOptions extends StartOptions, StopOptions {
  /** Stop in an orderly way at SIGTERM and SIGINT; default true. */
  signals?: boolean | undefined;
}

/** Why an agent stopped. */
export type StopReason = 'stopped' | 'superseded' | 'drained';

export interface AgentEvents {
  /** A lease is held; `resumed`: the one from before a broken connection. */
  connected: { resumed: boolean; transport: string };
  disconnected: { reason: string };
  registered: { leaseId: string; warnings: string[] };
  /** The lease ended; running work was aborted and the agent registers anew. */
  lease_lost: { code: string };
  /** A newer process registered under the same id; this one has stopped. */
  superseded: Record<string, never>;
  /** The centre asks to finish what runs and to take nothing new. */
  drain: Record<string, never>;
  /** The heartbeat was stalled for so long, and goes on now. */
  heartbeat_late: { lateMs: number };
  /** The centre did not count something this agent said about a delivery. */
  dropped: { deliveryId: string; code: string };
  /** An offer came: before its ACK, so it may yet go to somebody else. */
  offered: { offer: Offer };
  error: { error: unknown };
  stopped: { reason: StopReason };
}
