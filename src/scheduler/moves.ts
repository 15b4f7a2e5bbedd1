import { Injectable } from '@nestjs/common';
import { streamOf, Turns, type TurnSeeker } from '../core/fair-share.js';
import { laneLabel, laneOf, type Requirement } from '../core/lane.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { recipient } from './callback-event.js';
import { Depths } from './depths.js';
import { Orders } from './orders.js';
import type { OnDegrade } from './policy/policy.wire.js';

const MOVE = loadSql(import.meta.url, 'sql/move.sql');
const BATCH = 500;

/** Why tasks are given to an equivalent, and for how long they have to have waited. */
export interface Diversion {
  note: { from: string; to: string; reason: string; lane: string };
  afterMs: number;
  /** Who is told of it. */
  told: OnDegrade | null;
}

/** Brings waiting tasks from one lane to another. The update of a task's row decides which replica moves it. */
@Injectable()
export class Moves {
  constructor(
    private readonly sql: Sql,
    private readonly turns: Turns,
    private readonly depths: Depths,
    private readonly orders: Orders,
  ) {}

  /**
   * @param diversion absent: the lane has another name now
   * @returns how many were moved: some, the rest by a later call
   */
  async move(lane: string, to: Requirement, diversion?: Diversion): Promise<number> {
    const target = laneOf(to);
    const { rows } = await this.sql.run<Omit<TurnSeeker, 'lane'> & { turn: number }>('move', MOVE, [
      lane,
      target,
      laneLabel(to),
      BATCH,
      diversion === undefined ? null : JSON.stringify(diversion.note),
      diversion?.afterMs ?? 0,
      ...this.turns.in(target),
      ...recipient(diversion?.told ?? null),
    ]);
    if (rows.length === 0) return 0;
    for (const task of rows) this.turns.note(target, streamOf(task, 'moved'), task.turn);
    this.depths.add(lane, -rows.length);
    this.depths.add(target, rows.length);
    this.orders.place(target);
    return rows.length;
  }
}
