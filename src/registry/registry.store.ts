import { Injectable } from '@nestjs/common';
import type { AgentState } from '../core/agent-state.js';
import { BatchWriter } from '../platform/postgres/batch-writer.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import type { AgentRow } from './agent-row.js';
import type { RegisterBody } from './agents.wire.js';

const sqlOf = (name: string) => loadSql(import.meta.url, `sql/${name}.sql`);
const REGISTER = sqlOf('register');
const HEARTBEAT = sqlOf('heartbeat');
const CHANGE_STATE = sqlOf('change_state');
const EXPIRE_LEASES = sqlOf('expire_leases');
const SUSPECT_SILENT = sqlOf('suspect_silent');
const BEGIN_REMOVAL = sqlOf('begin_removal');
const FINISH_REMOVAL = sqlOf('finish_removal');
const AGENT = sqlOf('agent');
const AGENTS_ALL = sqlOf('agents_all');
const AGENTS_PAGE = sqlOf('agents_page');
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
}

export type AgentRowWithLoad = AgentRow & { in_flight: number };

export interface TransitionRow {
  at: Date;
  from_state: AgentState | null;
  to_state: AgentState;
  reason: string;
  facts: Record<string, unknown>;
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

  /** Registers with a new lease. `superseded_lease_id` names the live lease that ended by it. */
  async register(
    b: RegisterBody,
    lease: { id: string; ttlMs: number; intervalMs: number },
  ): Promise<AgentRow & { superseded_lease_id: string | null }> {
    const { rows } = await this.sql.run<AgentRow & { superseded_lease_id: string | null }>(
      'register',
      REGISTER,
      [
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
      ],
    );
    const row = rows[0];
    if (row === undefined) throw new Error('register.sql returned no row');
    return row;
  }

  /** Renews a lease; undefined when it is not the agent's live lease any more. */
  heartbeat(beat: Heartbeat): Promise<RenewedLease | undefined> {
    return this.heartbeats.write(beat);
  }

  private async writeHeartbeats(beats: readonly Heartbeat[]): Promise<(RenewedLease | undefined)[]> {
    const { rows } = await this.sql.run<{ ord: number; state: AgentState; lease_ttl_ms: number }>(
      'heartbeat',
      HEARTBEAT,
      [
        beats.map((b) => b.namespace),
        beats.map((b) => b.agentId),
        beats.map((b) => b.leaseId),
        beats.map((b) => b.capacity),
      ],
    );
    const answers = new Array<RenewedLease | undefined>(beats.length).fill(undefined);
    for (const row of rows) answers[row.ord - 1] = { state: row.state, leaseTtlMs: row.lease_ttl_ms };
    return answers;
  }

  /** Moves an agent from one of `from` to `to` while its lease is `leaseId`; undefined when that did not hold. */
  async changeState(
    agent: { namespace: string; agentId: string; leaseId: string },
    from: readonly AgentState[],
    to: AgentState,
    reason: string,
    facts: Record<string, unknown>,
  ): Promise<AgentRow | undefined> {
    const { rows } = await this.sql.run<AgentRow>('change_state', CHANGE_STATE, [
      agent.namespace,
      agent.agentId,
      agent.leaseId,
      JSON.stringify(facts),
      from,
      to,
      reason,
    ]);
    return rows[0];
  }

  /** Ends leases that ran out; see the statement for `trustedMs`. */
  async expireLeases(trustedMs: number): Promise<AgentRow[]> {
    return (await this.sql.run<AgentRow>('expire_leases', EXPIRE_LEASES, [trustedMs])).rows;
  }

  async suspectSilent(trustedMs: number, afterIntervals: number): Promise<AgentRow[]> {
    return (await this.sql.run<AgentRow>('suspect_silent', SUSPECT_SILENT, [trustedMs, afterIntervals])).rows;
  }

  /** Undefined when there is no such agent, it is leaving already, or `leaseId` is not its lease. */
  async beginRemoval(
    namespace: string,
    agentId: string,
    leaseId: string | null,
    drainMs: number,
    reason: string,
  ): Promise<AgentRow | undefined> {
    const params = [namespace, agentId, leaseId, drainMs, reason];
    return (await this.sql.run<AgentRow>('begin_removal', BEGIN_REMOVAL, params)).rows[0];
  }

  async finishRemoval(namespace: string, agentId: string): Promise<AgentRow | undefined> {
    return (await this.sql.run<AgentRow>('finish_removal', FINISH_REMOVAL, [namespace, agentId])).rows[0];
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
