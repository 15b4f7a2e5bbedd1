import { Injectable } from '@nestjs/common';
import type { AgentFacts, AgentState } from '../core/agent-state.js';
import { BatchWriter } from '../platform/postgres/batch-writer.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import type { StoredFacts } from './agent-facts.js';
import type { AgentRow } from './agent-row.js';
import type { RegisterBody } from './agents.wire.js';

const sqlOf = (name: string) => loadSql(import.meta.url, `sql/${name}.sql`);
const REGISTER = sqlOf('register');
const HEARTBEAT = sqlOf('heartbeat');
const JUDGE_READ = sqlOf('judge_read');
const JUDGE_WRITE = sqlOf('judge_write');
const EXPIRE_LEASES = sqlOf('expire_leases');
const SUSPECT_SILENT = sqlOf('suspect_silent');
const BEGIN_REMOVAL = sqlOf('begin_removal');
const FINISH_REMOVAL = sqlOf('finish_removal');
const AGENT = sqlOf('agent');
const AGENTS_ALL = sqlOf('agents_all');
const AGENTS_PAGE = sqlOf('agents_page');
const HOLD = sqlOf('hold');
const HISTORY = sqlOf('history');
const PURGE = sqlOf('purge');
const SWITCH = sqlOf('switch');
const SWITCHES = sqlOf('switches');

export interface Heartbeat {
  namespace: string;
  agentId: string;
  leaseId: string;
  capacity: string | null;
}

export interface RenewedLease {
  state: AgentState;
  leaseTtlMs: number;
  /** Its facts still hold against it what this heartbeat disproves. */
  doubted: boolean;
}

/** An agent under one of its leases. */
export interface LeaseRef {
  namespace: string;
  agentId: string;
  leaseId: string;
}

/** Says of an agent that a source registered it, and from what. */
export interface SourceMark {
  name: string;
  digest: string;
}

/** What was judged, and what it was judged from. */
export interface Judgement {
  /** As it was read. */
  row: AgentRow;
  facts: StoredFacts;
  state: AgentState;
  reason: string;
  /** Whether others have to hear of it; else only counts changed. */
  notable: boolean;
  judged: AgentFacts;
  evidence: Record<string, unknown>;
}

/** `superseded_lease_id`: the live lease that ended by the registration. */
export type RegisteredRow = SweptRow & { superseded_lease_id: string | null };

/** A row whose state was changed, with the state it had before. */
export type SweptRow = AgentRow & { from_state: AgentState | null };

export type AgentRowWithLoad = AgentRow & { in_flight: number };

export interface TransitionRow {
  /** `hold`, `release`: an operator's order; the state stays as it is. */
  kind: 'transition' | 'hold' | 'release';
  at: Date;
  from_state: AgentState | null;
  to_state: AgentState;
  reason: string;
  facts: Record<string, unknown>;
  evidence: Record<string, unknown>;
}

export interface SwitchRow {
  namespace: string;
  capability: string;
  paused: boolean;
  reason: string;
}

/** Every statement on agents, their history and the capability switches. */
@Injectable()
export class RegistryStore {
  private readonly heartbeats: BatchWriter<Heartbeat, RenewedLease | undefined>;

  constructor(private readonly sql: Sql) {
    this.heartbeats = new BatchWriter({
      name: 'heartbeats',
      maxBatch: 500,
      maxQueue: 50_000,
      write: (items) => this.writeHeartbeats(items),
    });
  }

  /**
   * Registers with a new lease, and facts to begin with. `superseded_lease_id` names the live lease that ended by
   * it. Undefined: the lease that the registration was to replace is not the agent's last one, or the id is not the
   * source's.
   */
  async register(
    b: RegisterBody,
    lease: { id: string; ttlMs: number; intervalMs: number },
    facts: StoredFacts = {},
    source?: SourceMark,
  ): Promise<RegisteredRow | undefined> {
    const { rows } = await this.sql.run<RegisteredRow>('register', REGISTER, [
      b.namespace,
      b.agent_id,
      b.name ?? b.agent_id,
      JSON.stringify(b.capabilities),
      JSON.stringify(b.dependencies),
      b.transport,
      b.endpoint ?? null,
      b.max_concurrency,
      b.weight,
      b.tags,
      JSON.stringify(b.metadata),
      lease.intervalMs,
      lease.ttlMs,
      lease.id,
      b.capacity === undefined ? null : JSON.stringify(b.capacity),
      b.features,
      JSON.stringify(facts),
      b.replaces_lease_id ?? null,
      source?.name ?? null,
      source?.digest ?? null,
    ]);
    return rows[0];
  }

  /** Renews a lease; undefined when it is not the agent's live lease any more. */
  heartbeat(beat: Heartbeat): Promise<RenewedLease | undefined> {
    return this.heartbeats.write(beat);
  }

  private async writeHeartbeats(beats: readonly Heartbeat[]): Promise<(RenewedLease | undefined)[]> {
    const { rows } = await this.sql.run<{
      ord: number;
      state: AgentState;
      lease_ttl_ms: number;
      doubted: boolean;
    }>('heartbeat', HEARTBEAT, [
      beats.map((b) => b.namespace),
      beats.map((b) => b.agentId),
      beats.map((b) => b.leaseId),
      beats.map((b) => b.capacity),
    ]);
    const answers = new Array<RenewedLease | undefined>(beats.length).fill(undefined);
    for (const { ord, state, lease_ttl_ms: leaseTtlMs, doubted } of rows)
      answers[ord - 1] = { state, leaseTtlMs, doubted };
    return answers;
  }

  /** The agents as they are now, in the order asked; undefined where the lease is not the agent's any more. */
  async readForJudging(refs: readonly LeaseRef[]): Promise<(AgentRow | undefined)[]> {
    const { rows } = await this.sql.run<AgentRow & { ord: number }>(
      'judge_read',
      JUDGE_READ,
      columnsOf(refs),
    );
    return inOrder(refs.length, rows);
  }

  /** Writes what was judged; undefined where the agent is not any more as it was read. */
  async writeJudged(judgements: readonly Judgement[]): Promise<(AgentRow | undefined)[]> {
    const { rows } = await this.sql.run<AgentRow & { ord: number }>('judge_write', JUDGE_WRITE, [
      judgements.map((j) => j.row.namespace),
      judgements.map((j) => j.row.agent_id),
      judgements.map((j) => j.row.lease_id),
      judgements.map((j) => JSON.stringify(j.row.facts)),
      judgements.map((j) => j.row.state),
      judgements.map((j) => JSON.stringify(j.facts)),
      judgements.map((j) => j.state),
      judgements.map((j) => j.reason),
      judgements.map((j) => j.notable),
      judgements.map((j) => JSON.stringify(j.judged)),
      judgements.map((j) => JSON.stringify(j.evidence)),
    ]);
    return inOrder(judgements.length, rows);
  }

  /** Ends leases that ran out; see the statement for `trustedMs`. */
  async expireLeases(trustedMs: number): Promise<SweptRow[]> {
    return (await this.sql.run<SweptRow>('expire_leases', EXPIRE_LEASES, [trustedMs])).rows;
  }

  async suspectSilent(trustedMs: number, afterIntervals: number): Promise<SweptRow[]> {
    return (await this.sql.run<SweptRow>('suspect_silent', SUSPECT_SILENT, [trustedMs, afterIntervals])).rows;
  }

  /** Undefined when there is no such agent, it is leaving already, or `leaseId` is not its lease. */
  async beginRemoval(
    namespace: string,
    agentId: string,
    leaseId: string | null,
    drainMs: number,
    reason: string,
  ): Promise<SweptRow | undefined> {
    const params = [namespace, agentId, leaseId, drainMs, reason];
    return (await this.sql.run<SweptRow>('begin_removal', BEGIN_REMOVAL, params)).rows[0];
  }

  async finishRemoval(namespace: string, agentId: string): Promise<AgentRow | undefined> {
    return (await this.sql.run<AgentRow>('finish_removal', FINISH_REMOVAL, [namespace, agentId])).rows[0];
  }

  /** Holds an agent on the order of `by`, or releases it (`reason` null); undefined when there is no such agent. */
  async hold(
    namespace: string,
    agentId: string,
    reason: string | null,
    by: string,
  ): Promise<AgentRowWithLoad | undefined> {
    return (await this.sql.run<AgentRowWithLoad>('hold', HOLD, [namespace, agentId, reason, by])).rows[0];
  }

  async find(namespace: string, agentId: string): Promise<AgentRowWithLoad | undefined> {
    return (await this.sql.run<AgentRowWithLoad>('agent', AGENT, [namespace, agentId])).rows[0];
  }

  /** Every agent that is not removed. */
  async all(): Promise<AgentRow[]> {
    return (await this.sql.run<AgentRow>('agents_all', AGENTS_ALL)).rows;
  }

  async page(params: readonly unknown[]): Promise<AgentRowWithLoad[]> {
    return (await this.sql.run<AgentRowWithLoad>('agents_page', AGENTS_PAGE, params)).rows;
  }

  async history(namespace: string, agentId: string, limit: number): Promise<TransitionRow[]> {
    return (await this.sql.run<TransitionRow>('history', HISTORY, [namespace, agentId, limit])).rows;
  }

  /** Deletes agents that were removed more than `days` days ago. */
  async purge(days: number): Promise<number> {
    return (await this.sql.run('purge', PURGE, [days])).rowCount ?? 0;
  }

  async setSwitch(namespace: string, capability: string, paused: boolean, reason: string): Promise<void> {
    await this.sql.run('switch', SWITCH, [namespace, capability, paused, reason]);
  }

  async switches(): Promise<SwitchRow[]> {
    return (await this.sql.run<SwitchRow>('switches', SWITCHES)).rows;
  }
}

function columnsOf(refs: readonly LeaseRef[]): string[][] {
  return [refs.map((r) => r.namespace), refs.map((r) => r.agentId), refs.map((r) => r.leaseId)];
}

/** Rows that carry the place of what they answer, counted from 1, at these places. */
function inOrder(count: number, rows: readonly (AgentRow & { ord: number })[]): (AgentRow | undefined)[] {
  const placed = new Array<AgentRow | undefined>(count).fill(undefined);
  for (const { ord, ...row } of rows) placed[ord - 1] = row;
  return placed;
}
