import { Injectable } from '@nestjs/common';
import { streamOf, Turns, type TurnSeeker } from '../core/fair-share.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';

const sqlOf = (name: string) => loadSql(import.meta.url, `sql/${name}.sql`);
const DUE = sqlOf('due');
const NEXT_DEADLINE = sqlOf('next_deadline');
const MAKE_DUE = sqlOf('make_due');
const EXPIRE = sqlOf('expire');
const ORPHANS = sqlOf('orphans');
const DRAINED_AGENTS = sqlOf('drained_agents');
const BACKLOG = sqlOf('backlog');
const UNFETCHED = sqlOf('unfetched');

interface HeldRow {
  id: string;
  namespace: string;
  lane: string;
  capability: string;
  fence: number;
  lease_id: string | null;
  agent_id: string | null;
  transport: string | null;
  attempt: number;
  max_attempts: number;
  idempotent: boolean;
}

export interface DueRow extends HeldRow {
  state: 'scheduled' | 'queued' | 'offered' | 'running';
  ack_timeout_ms: number;
  execution_timeout_ms: number;
  progress: { note?: string } | null;
  run_at: Date;
  priority: number;
  caller: string;
  /** It has to have started. */
  expired: boolean;
  /** It has to have ended. */
  over: boolean;
  age_ms: number;
}

export interface OrphanRow extends HeldRow {
  state: 'offered' | 'running';
  /** leaving: the agent leaves in an orderly way and has not begun this one */
  cause: 'leaving' | 'drained' | 'restarted' | 'lease_expired';
  last_heartbeat_at: Date | null;
  registered_at: Date | null;
}

export interface ExpireWrite {
  id: string;
  fence: number;
  seen: string;
  error: string;
  attributionId: string;
  blame: string;
  message: string;
  evidence: string;
}

export interface ExpiredRow {
  id: string;
  lane: string;
  capability: string;
}

/** What the sweeps read, and the changes that only they make. */
@Injectable()
export class SweepStore {
  constructor(
    private readonly sql: Sql,
    private readonly turns: Turns = new Turns(),
  ) {}

  /** Up to `limit` rows whose deadline passed, longest overdue first; see the statement for `heardMs`. */
  async due(limit: number, heardMs: number): Promise<DueRow[]> {
    return (await this.sql.run<DueRow>('due', DUE, [limit, heardMs])).rows;
  }

  /** Ms until the earliest deadline of all, or undefined when there is none. */
  async nextDeadlineMs(heardMs: number): Promise<number | undefined> {
    return (await this.sql.run<{ in_ms: number }>('next_deadline', NEXT_DEADLINE, [heardMs])).rows[0]?.in_ms;
  }

  /** scheduled -> queued; returns the tasks that moved. */
  async makeDue(rows: readonly Pick<DueRow, 'id' | 'fence' | 'lane' | 'priority' | 'caller'>[]) {
    const params = [rows.map((r) => r.id), rows.map((r) => r.fence), ...this.turns.columnsOf(rows, 'due')];
    const { rows: moved } = await this.sql.run<TurnSeeker & { id: string; turn: number }>(
      'make_due',
      MAKE_DUE,
      params,
    );
    for (const task of moved) this.turns.note(task.lane, streamOf(task, 'due'), task.turn);
    return moved;
  }

  async expire(writes: readonly ExpireWrite[]): Promise<ExpiredRow[]> {
    const params = [
      writes.map((w) => w.id),
      writes.map((w) => w.fence),
      writes.map((w) => w.seen),
      writes.map((w) => w.error),
      writes.map((w) => w.attributionId),
      writes.map((w) => w.blame),
      writes.map((w) => w.message),
      writes.map((w) => w.evidence),
    ];
    return (await this.sql.run<ExpiredRow>('expire', EXPIRE, params)).rows;
  }

  /** Deliveries whose holder cannot finish them; of one agent, or of all. */
  async orphans(limit: number, agent?: { namespace: string; agentId: string }): Promise<OrphanRow[]> {
    const params = [limit, agent?.namespace ?? null, agent?.agentId ?? null];
    return (await this.sql.run<OrphanRow>('orphans', ORPHANS, params)).rows;
  }

  async drainedAgents(): Promise<{ namespace: string; agent_id: string }[]> {
    return (await this.sql.run<{ namespace: string; agent_id: string }>('drained_agents', DRAINED_AGENTS))
      .rows;
  }

  /** Lanes with queued tasks. */
  async backlog(): Promise<string[]> {
    return (await this.sql.run<{ lane: string }>('backlog', BACKLOG)).rows.map((r) => r.lane);
  }

  /** Offers that lay in inboxes when those were lost. */
  async unfetched(limit: number): Promise<(HeldRow & { lease_id: string; agent_id: string })[]> {
    return (
      await this.sql.run<HeldRow & { lease_id: string; agent_id: string }>('unfetched', UNFETCHED, [limit])
    ).rows;
  }
}
