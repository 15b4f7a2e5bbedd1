import { Inject, Injectable } from '@nestjs/common';
import { Membership, type Member } from '../core/ownership.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';

const BEAT = loadSql(import.meta.url, 'sql/beat.sql');
const LEAVE = loadSql(import.meta.url, 'sql/leave.sql');

/** A replica counts from its third heartbeat on: by then every other one has read its row. */
const JOIN_BEATS = 2;
/** It counts no more after so many heartbeats that did not come. */
const LIFETIME_BEATS = 3;

interface Row {
  replica_id: string;
  zone: string | null;
  active_at_ms: number;
  heartbeat_at_ms: number;
  clock_ms: number;
}

/** The replicas that share the probing, by heartbeats in Postgres. */
@Injectable()
export class Replicas {
  private readonly membership: Membership;
  private readonly lifetimeMs: number;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly sql: Sql,
  ) {
    this.lifetimeMs = LIFETIME_BEATS * config.membershipIntervalMs;
    this.membership = new Membership(this.lifetimeMs);
  }

  /**
   * Says that this replica is there, and learns who else is.
   * @throws when Postgres does not answer
   */
  async beat(): Promise<void> {
    const { replicaId, zone, membershipIntervalMs, redisUrl } = this.config;
    // Without Redis there is one replica, and nobody to wait for.
    const joinMs = redisUrl === undefined ? 0 : JOIN_BEATS * membershipIntervalMs;
    const params = [replicaId, zone || null, joinMs, this.lifetimeMs];
    const { rows } = await this.sql.run<Row>('replica_beat', BEAT, params);
    this.membership.update(rows.map(toMember), rows[0]?.clock_ms ?? 0, performance.now());
  }

  /** Goes, so that the others need not wait for its lifetime to pass. */
  async leave(): Promise<void> {
    await this.sql.run('replica_leave', LEAVE, [this.config.replicaId]);
  }

  /** The replicas that count now; this one may be missing. */
  live(): Member[] {
    return this.membership.liveAt(performance.now());
  }

  /** In how many ms the live ones change by themselves. */
  nextChangeMs(): number {
    return this.membership.nextChangeMs(performance.now());
  }

  /** The database's clock in ms, as far as it is known here. */
  clockMs(): number {
    return this.membership.clockAt(performance.now());
  }
}

function toMember(row: Row): Member {
  return {
    replicaId: row.replica_id,
    zone: row.zone ?? undefined,
    activeAtMs: row.active_at_ms,
    heartbeatAtMs: row.heartbeat_at_ms,
  };
}
