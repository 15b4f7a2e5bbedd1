import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { attribute, type Hindrance } from '../core/attribution.js';
import { wireCode } from '../core/errors.js';
import { storableJson } from '../core/text.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { newId } from '../platform/ids.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { Hindrances } from './hindrances.js';
import { Orders } from './orders.js';
import { Outcomes } from './outcomes.js';
import { Overdue } from './overdue.js';
import { SweepStore, type DueRow } from './sweep.store.js';

const BATCH = 500;
/** Deadlines closer together than this are handled by one sweep. */
const GATHER_MS = 20;

/**
 * Enforces every deadline of the ledger. An alarm wakes it when one is due; its own interval is the safety net
 * for alarms that other replicas set. Each row is changed under its guard, so any number of replicas may sweep.
 */
@Injectable()
export class DeadlineSweep implements OnApplicationBootstrap {
  private readonly ticker: Ticker;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly store: SweepStore,
    private readonly overdue: Overdue,
    private readonly outcomes: Outcomes,
    private readonly orders: Orders,
    private readonly hindrances: Hindrances,
    private readonly alarm: DeadlineAlarm,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('deadline sweep', config.sweepIntervalMs, () => this.sweep());
    shutdown.on('intake', 'deadline sweep', () => this.ticker.stop());
  }

  onApplicationBootstrap(): void {
    this.alarm.connect((inMs) => this.ticker.within(inMs + GATHER_MS));
    this.ticker.start();
  }

  private async sweep(): Promise<void> {
    const heardMs = this.overdue.heardMs();
    for (;;) {
      const rows = await this.store.due(BATCH, heardMs);
      await Promise.all([
        this.makeDue(rows.filter((r) => r.state === 'scheduled' && !r.expired)),
        this.expire(rows.filter((r) => (r.state === 'scheduled' || r.state === 'queued') && r.expired)),
        ...rows
          .filter((r) => (r.state === 'offered' && !isLapsed(r)) || r.state === 'running')
          .map((r) => this.overdue.end(r, heardMs)),
        this.endLapsed(rows.filter(isLapsed)),
      ]);
      if (rows.length < BATCH) break;
    }
    const next = await this.store.nextDeadlineMs(heardMs);
    if (next !== undefined) this.ticker.within(Math.max(0, next) + GATHER_MS);
  }

  private async makeDue(rows: readonly DueRow[]): Promise<void> {
    if (rows.length === 0) return;
    const moved = await this.store.makeDue(rows);
    for (const lane of new Set(moved.map((m) => m.lane))) this.orders.place(lane);
  }

  /** Offers of tasks that have to have started: nothing began, so they go back, and end at once. */
  private async endLapsed(rows: readonly DueRow[]): Promise<void> {
    const back = await Promise.all(
      rows.map(async (row) =>
        (await this.overdue.release(row)) ? [{ ...row, state: 'queued' as const }] : [],
      ),
    );
    await this.expire(back.flat(), (row) => ({ kind: 'unacknowledged', agentId: row.agent_id ?? '' }));
  }

  private async expire(
    rows: readonly DueRow[],
    hindranceOf: (row: DueRow) => Hindrance = (row) => this.hindrance(row),
  ): Promise<void> {
    if (rows.length === 0) return;
    const ended = await this.store.expire(
      rows.map((row) => {
        const hindrance = hindranceOf(row);
        const cause = attribute({
          kind: 'expired',
          capability: row.capability,
          waitedMs: row.age_ms,
          hindrance,
        });
        return {
          id: row.id,
          fence: row.fence,
          seen: row.state,
          error: storableJson({ code: wireCode(cause.code), message: cause.message, retryable: true }),
          attributionId: newId(),
          blame: cause.blame,
          message: cause.message,
          evidence: storableJson({
            incident: 'expired',
            waited_ms: Math.round(row.age_ms),
            hindrance: hindrance.kind,
            ...('rejections' in hindrance && {
              candidates: hindrance.rejections.map((r) => ({
                agent_id: r.agentId,
                filter: r.filter,
                reason: r.reason,
              })),
            }),
          }),
        };
      }),
    );
    this.outcomes.report(
      ended.map((e) => ({
        taskId: e.id,
        state: 'expired',
        lane: e.lane,
        capability: e.capability,
        depth: -1 as const,
        code: 'TASK_EXPIRED',
      })),
    );
  }

  private hindrance(row: DueRow): Hindrance {
    if (row.state === 'scheduled') return { kind: 'not_due', runAt: row.run_at.toISOString() };
    return this.hindrances.of(row.lane);
  }
}

/** A push may have begun though its answer is on the way; what was offered otherwise began with its ACK alone. */
function isLapsed(row: DueRow): boolean {
  return row.state === 'offered' && row.expired && row.transport !== 'push';
}
