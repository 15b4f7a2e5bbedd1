import { type ProbeAnswer } from './probe-tool.js';
import {
  type CapacityReport,
  type LeaseAnswer,
  type Offer,
  type OperationAnswer,
  type RegisterAnswer,
  type RegisterRequest,
  type StaleDelivery,
} from './wire.js';

/** Who the agent is on a connection, and under which lease. */
export interface LeaseRef {
  namespace: string;
  agentId: string;
  leaseId: string;
}

/**
 * One connection to the centre: a WebSocket session, long polling, or (push) calls out only. It lives
 * until `close`, or until `LinkListener.closed` says that it broke; it is never reopened.
 * Every call rejects with `ReachApiError` (an answer) or `ReachConnectionError` (no answer).
 */
export interface Link {
  readonly kind: 'session' | 'pull' | 'push';
  /** How many `operations` calls may be under way at once. */
  readonly maxInFlight: number;
  register(agent: RegisterRequest): Promise<RegisterAnswer>;
  /** Takes up `lease` again after a broken connection. */
  resume(lease: LeaseRef, running: string[]): Promise<LeaseAnswer>;
  heartbeat(capacity: CapacityReport, running: string[]): Promise<LeaseAnswer>;
  /** @param operations each one serialised JSON object, at most 1000. @returns answers in order. */
  operations(operations: readonly string[]): Promise<OperationAnswer[]>;
  deregister(drainMs: number): Promise<void>;
  /** A slot became free: a polling link may ask for work. */
  slotFreed(): void;
  close(): void;
}

/** What a link tells its agent. */
export interface LinkListener {
  offers(deliveries: Offer[]): void;
  stale(deliveries: StaleDelivery[]): void;
  drain(): void;
  /** Runs the probe tool; never rejects. */
  probe(): Promise<ProbeAnswer>;
  /** The centre refused the lease outside of a call (`REACH_LEASE_EXPIRED`, `REACH_LEASE_SUPERSEDED`). */
  leaseRefused(code: string): void;
  closed(reason: string, frameTooLarge: boolean): void;
  /** How many more deliveries the agent could start now. */
  freeSlots(): number;
}
