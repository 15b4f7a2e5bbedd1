import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { wireCode } from '../core/errors.js';
import { deliveryIdOf, isTerminal, type TaskState } from '../core/task-state.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { COORDINATOR, type Coordinator } from '../platform/coordination/coordinator.js';
import { agentKey } from '../registry/agent-row.js';
import { ReachTable } from '../registry/reach-table.js';
import { Depths } from './depths.js';
import { Evidence } from './evidence.js';
import { Lanes } from './lanes.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { Slots } from './slots.js';
import { TaskNews } from './task-news.js';
import { Inbox } from './transports/inbox.js';
import { Sessions } from './transports/sessions.js';

/** Something that was just committed: a task changed, and perhaps a delivery of it was closed. */
export interface Outcome {
  taskId: string;
  /** the state the task is in now */
  state: TaskState;
  lane: string;
  capability: string;
  /** +1: it came back to its lane; -1: it left it without being placed */
  depth?: 1 | -1;
  /** the delivery that was closed */
  closed?: {
    namespace: string;
    agentId: string;
    fence: number;
    code?: string;
    /** from the ACK, or the offer where there was none, in ms */
    tookMs?: number;
    /** on how many other agents the task was tried before */
    elsewhere?: number;
  };
  /** code of an end without a delivery */
  code?: string;
  /** from the ACK to the result, in ms */
  ranMs?: number;
}

/** What other replicas need to know: [task id, state, agent key, delivery id, code or null, what it says of the agent] */
type News = [string, TaskState, string?, string?, (string | null)?, ToldEnd?];
/** [capability, ms that it took, other agents that it was tried on] */
type ToldEnd = [string, (number | null)?, number?];
/** Of a call that was none of ours: [agent key, capability, code or null, ms that it took] */
type ToldCall = [string, string, string | null, number];
/** What replicas tell each other. */
interface Message {
  from: string;
  items: News[];
  calls?: ToldCall[];
}

const CHANNEL = 'outcomes';

/**
 * What follows from a committed change, in memory and between replicas: slots become free, lanes are woken,
 * waiters and agents are told. All of it may be lost; sweeps and reconciles find the same from the ledger.
 */
@Injectable()
export class Outcomes implements OnApplicationBootstrap {
  private readonly log = new Logger(Outcomes.name);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(COORDINATOR) private readonly coordinator: Coordinator,
    private readonly table: ReachTable,
    private readonly slots: Slots,
    private readonly depths: Depths,
    private readonly lanes: Lanes,
    private readonly inbox: Inbox,
    private readonly sessions: Sessions,
    private readonly news: TaskNews,
    private readonly metrics: SchedulerMetrics,
    private readonly evidence: Evidence,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.coordinator.subscribe(CHANNEL, (message) => {
      const { from, items, calls = [] } = JSON.parse(message) as Message;
      if (from === this.config.replicaId) return;
      this.hear(items);
      this.learn(calls);
    });
  }

  /** Draws the consequences of what was just committed. */
  report(outcomes: readonly Outcome[]): void {
    if (outcomes.length === 0) return;
    const freed = new Map<string, string[]>();
    const items: News[] = [];
    for (const o of outcomes) {
      this.count(o);
      if (o.depth !== undefined) this.depths.add(o.lane, o.depth);
      if (o.state === 'queued') this.lanes.wake(o.lane);
      if (o.closed === undefined) {
        items.push([o.taskId, o.state]);
        continue;
      }
      const key = agentKey(o.closed.namespace, o.closed.agentId);
      const { code, tookMs, elsewhere } = o.closed;
      this.evidence.ended({ key, capability: o.capability, code, tookMs, elsewhere });
      const id = deliveryIdOf(o.taskId, o.closed.fence);
      const ids = freed.get(key);
      if (ids === undefined) freed.set(key, [id]);
      else ids.push(id);
      if (code !== undefined) this.inbox.withdraw(key, id);
      const end: ToldEnd = [o.capability, tookMs === undefined ? null : Math.round(tookMs), elsewhere ?? 0];
      items.push([o.taskId, o.state, key, id, code ?? null, end]);
    }
    for (const [key, ids] of freed) void this.slots.release(key, ids);
    this.tell(items);
    for (const key of freed.keys()) {
      const entry = this.table.get(key);
      if (entry !== undefined) this.lanes.wakeFor(entry);
    }
    this.publish({ items });
  }

  /** Calls that agents were given by others, as those report them: they say of an agent what deliveries do. */
  reported(calls: readonly ToldCall[]): void {
    this.learn(calls);
    this.publish({ items: [], calls: [...calls] });
  }

  private learn(calls: readonly ToldCall[]): void {
    for (const [key, capability, code, tookMs] of calls)
      this.evidence.ended({ key, capability, code: code ?? undefined, tookMs });
  }

  private publish(message: Omit<Message, 'from'>): void {
    this.coordinator
      .publish(CHANNEL, JSON.stringify({ from: this.config.replicaId, ...message }))
      .catch((err: unknown) =>
        this.log.debug({ msg: 'outcomes were not published; waiters will look again', err }),
      );
  }

  private count(o: Outcome): void {
    const code = o.closed?.code ?? o.code;
    if (isTerminal(o.state)) this.metrics.ended(o.capability, o.state, code);
    else if (code !== undefined) this.metrics.redispatched(code);
    if (o.ranMs !== undefined) this.metrics.ran(o.capability, o.ranMs);
  }

  private hear(items: readonly News[]): void {
    for (const [, , key, id, code, end] of items) {
      if (key === undefined || id === undefined) continue;
      this.slots.forget(key, [id]);
      if (end === undefined) continue; // a replica of an older version
      const [capability, tookMs, elsewhere] = end;
      this.evidence.ended({
        key,
        capability,
        code: code ?? undefined,
        tookMs: tookMs ?? undefined,
        elsewhere,
      });
    }
    this.tell(items);
  }

  private tell(items: readonly News[]): void {
    for (const [taskId, state, key, id, code] of items) {
      this.news.changed(taskId, isTerminal(state));
      if (key === undefined || id === undefined || state === 'succeeded') continue;
      this.sessions.get(key)?.stale([{ delivery_id: id, reason: wireCode(code ?? 'DELIVERY_SUPERSEDED') }]);
    }
  }
}
