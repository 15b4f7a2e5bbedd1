import { Injectable } from '@nestjs/common';
import { ReachError } from '../core/errors.js';
import type { AgentState } from '../core/agent-state.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import type { EventType } from './feed.wire.js';

const FEED = loadSql(import.meta.url, 'sql/feed.sql');

/** Rows of one look. */
const PAGE = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A place in the feed: everything up to it has been told. */
export interface Position {
  xid: bigint;
  id: string;
}

export const BEGINNING: Position = { xid: 0n, id: FIRST_ID };

export interface FeedFilter {
  namespace: string;
  agent_id?: string | undefined;
  type?: readonly EventType[] | undefined;
}

export interface FeedRow {
  id: string;
  xid: string;
  kind: EventType;
  at: Date;
  /** '': it is about the prober of a replica, which `agent_id` names. */
  namespace: string;
  agent_id: string;
  from_state: AgentState | null;
  to_state: AgentState | null;
  reason: string;
  facts: Record<string, unknown>;
  evidence: Record<string, unknown>;
}

interface Look {
  rows: FeedRow[];
  /** Everything up to here has been seen, whether the filter let it through or not. */
  position: Position;
  /** There is more to be had now, or in a moment. */
  more: 'now' | 'soon' | 'later';
  /** The end of what can be told now. */
  end: Position;
}

/** Reads the history as a feed: in an order in which nothing appears behind what was read. */
@Injectable()
export class FeedStore {
  constructor(private readonly sql: Sql) {}

  /** What happened after a position, the oldest first, as far as it is settled. */
  async after(filter: FeedFilter, { xid, id }: Position): Promise<Look> {
    const { namespace, agent_id: agent, type } = filter;
    const params = [namespace, String(xid), id, agent ?? null, type ?? null, PAGE];
    type Row = { horizon: string; pending: boolean; id: string | null };
    const answer = await this.sql.run<Row & Partial<FeedRow>>('feed', FEED, params);
    const horizon = BigInt(answer.rows[0]?.horizon ?? 0);
    const pending = answer.rows[0]?.pending === true;
    const rows = answer.rows.filter((row) => row.id !== null) as unknown as FeedRow[];
    const last = rows.at(-1);
    const end = { xid: horizon - 1n, id: LAST_ID };
    if (rows.length === PAGE && last !== undefined)
      return { rows, position: { xid: BigInt(last.xid), id: last.id }, more: 'now', end };
    // A position beyond the end stays: it is that of another look.
    return { rows, position: xid >= horizon ? { xid, id } : end, more: pending ? 'soon' : 'later', end };
  }

  /** The end of what can be told now. */
  async end(namespace: string): Promise<Position> {
    return (await this.after({ namespace, type: [] }, BEGINNING)).end;
  }
}

/** The id of an event: an opaque word for those who read it. */
export function idOf({ xid, id }: { xid: bigint | string; id: string }): string {
  return `${xid}.${id}`;
}

/**
 * The position that an id names.
 * @param end positions behind it are of no feed of this database
 * @throws ReachError VALIDATION_FAILED
 */
export function positionOf(text: string, end: Position): Position {
  const [, xid = '', id = ''] =
    /^(\d{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? [];
  const position = { xid: xid === '' ? -1n : BigInt(xid), id };
  if (position.xid >= 0n && position.xid <= end.xid) return position;
  const detail =
    'is not the id of an event of this feed; leave it out to begin now, or send 0 for all that is kept';
  throw new ReachError('VALIDATION_FAILED', `The Last-Event-ID ${detail}`, {
    errors: [{ pointer: '/last-event-id', detail }],
  });
}
