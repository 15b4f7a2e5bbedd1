import type { z } from 'zod';
import type { Hindrance } from '../core/attribution.js';
import { type PackedDecision, unpackDecision } from '../core/decision.js';
import type { Shortage } from '../core/eligibility.js';
import { wireCode } from '../core/errors.js';
import { deliveryIdOf } from '../core/task-state.js';
import { timeoutWords } from '../core/timeouts.js';
import type { decisionView } from '../scheduler/decision.wire.js';
import { openDeliveryOf, toDeliveryView, type DeliveryRow, type TaskRow } from '../scheduler/task-row.js';
import type { AgentMoment, AttributionRow } from './attribution.store.js';
import type { storyEntry } from './observatory.wire.js';

export type StoryEntry = z.input<typeof storyEntry>;
type Draft = Omit<StoryEntry, 'position' | 'at'> & { at: Date; rank: number };

/** Everything the ledger knows of a task. */
export interface TaskFile {
  task: TaskRow;
  deliveries: readonly DeliveryRow[];
  attributions: readonly AttributionRow[];
  moments: readonly AgentMoment[];
}

/**
 * The story of a task in the order it happened. Rows are only ever added to its end (rows of one moment are
 * ranked), so a position once given stays: it serves as the id of an event stream.
 */
export function tellStory(file: TaskFile): StoryEntry[] {
  const { task } = file;
  const drafts: Draft[] = [
    {
      at: task.created_at,
      rank: 0,
      kind: 'accepted',
      text: `accepted for ${task.fallback?.from ?? task.capability}`,
      data: { priority: task.priority, idempotent: task.idempotent, max_attempts: task.max_attempts },
    },
    ...fallbackDraft(task),
    ...file.deliveries.flatMap((d) => deliveryDrafts(task.id, d)),
    ...openDrafts(task),
    ...file.attributions.map((a) => attributionDraft(a)),
    ...file.moments.map((m) => momentDraft(m)),
    ...endDraft(task),
  ];
  drafts.sort((a, b) => a.at.getTime() - b.at.getTime() || a.rank - b.rank);
  return drafts.map(({ rank: _, at, ...entry }, i) => ({ position: i + 1, at: at.toISOString(), ...entry }));
}

function fallbackDraft({ fallback }: TaskRow): Draft[] {
  if (fallback === null) return [];
  const { from, to, reason } = fallback;
  const text = `given to ${to} in place of ${from}: ${reason}`;
  return [{ at: new Date(fallback.at), rank: 1, kind: 'fallback', text, data: { from, to, reason } }];
}

function deliveryDrafts(taskId: string, d: DeliveryRow): Draft[] {
  const delivery_id = deliveryIdOf(taskId, d.fence);
  const who = { delivery_id, agent_id: d.agent_id };
  const drafts: Draft[] = [
    {
      ...who,
      at: d.offered_at,
      rank: 10 * d.fence,
      kind: 'offered',
      text: `attempt ${d.attempt} offered to ${d.agent_id} (${d.transport})${wordsOf(d.decision)}`,
      ...dataOf(toDeliveryView(taskId, d).decision),
    },
  ];
  if (d.acked_at !== null)
    drafts.push({
      ...who,
      at: d.acked_at,
      rank: 10 * d.fence + 1,
      kind: 'acknowledged',
      text: `${d.agent_id} acknowledged and began`,
    });
  drafts.push({
    ...who,
    at: d.finished_at,
    rank: 10 * d.fence + 2,
    kind: 'closed',
    text: `attempt ${d.attempt} at ${d.agent_id}: ${d.outcome}${d.code === null ? '' : ` (${wireCode(d.code)})`}`,
    ...(d.code !== null && { data: { outcome: d.outcome, code: wireCode(d.code) } }),
  });
  return drafts;
}

function openDrafts(task: TaskRow): Draft[] {
  const open = openDeliveryOf(task);
  if (open === undefined) return [];
  const who = { delivery_id: open.delivery_id, agent_id: open.agent_id };
  const drafts: Draft[] = [
    {
      ...who,
      at: new Date(open.offered_at),
      rank: 10 * task.fence,
      kind: 'offered',
      text: `attempt ${open.attempt} offered to ${open.agent_id} (${open.transport})${wordsOf(task.decision)}`,
      ...dataOf(open.decision),
    },
  ];
  if (open.acked_at !== undefined)
    drafts.push({
      ...who,
      at: new Date(open.acked_at),
      rank: 10 * task.fence + 1,
      kind: 'acknowledged',
      text: `${open.agent_id} acknowledged and began`,
    });
  return drafts;
}

function dataOf(decision: z.input<typeof decisionView> | undefined) {
  return decision && { data: { decision } };
}

/** How it was chosen, in a few words; the figures stand in the data. */
function wordsOf(packed: PackedDecision | null | undefined): string {
  if (!packed) return '';
  const { by, compared, of, timeout, rejected } = unpackDecision(packed);
  const among = by === 'affinity' ? `by its key, of ${of}` : `of ${compared.length} compared, ${of} eligible`;
  const counts = Object.entries(rejected.counts).map(([filter, count]) => `${count} by ${filter}`);
  const passedOver = counts.length === 0 ? '' : `; passed over: ${counts.join(', ')}`;
  const limit = timeout === undefined ? '' : `; may run for ${timeoutWords(timeout)}`;
  return `: chosen ${among}${passedOver}${limit}`;
}

function attributionDraft(a: AttributionRow): Draft {
  return {
    at: a.at,
    rank: 10 * (a.fence ?? 1_000_000) + 3,
    kind: 'attribution',
    text: a.message,
    ...(a.fence !== null && { delivery_id: deliveryIdOf(a.task_id, a.fence) }),
    ...(a.agent_id !== null && { agent_id: a.agent_id }),
    data: { code: wireCode(a.code), blame: a.blame, stage: a.stage, final: a.final },
  };
}

function momentDraft(m: AgentMoment): Draft {
  return {
    at: m.at,
    rank: 5,
    kind: 'agent_state',
    agent_id: m.agent_id,
    text: `agent ${m.agent_id}: ${m.from_state ?? 'new'} -> ${m.to_state} (${m.reason})`,
  };
}

function endDraft(task: TaskRow): Draft[] {
  if (task.finished_at === null) return [];
  return [
    {
      at: task.finished_at,
      rank: Number.MAX_SAFE_INTEGER,
      kind: 'ended',
      text: `the task ${ENDED[task.state] ?? task.state}`,
    },
  ];
}

const ENDED: Readonly<Record<string, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'was canceled',
  expired: 'expired before it could start',
};

/** One sentence on where the task stands, that a person can act on. */
export function headlineOf(file: TaskFile, hindrance: Hindrance): string {
  const { task } = file;
  const final = file.attributions.find((a) => a.final);
  const retries = file.deliveries.filter((d) => d.outcome === 'failed').length;
  switch (task.state) {
    case 'succeeded':
      return `succeeded at ${task.agent_id ?? '(unknown)'}${retries > 0 ? ` ${after(retries)}` : ''}`;
    case 'failed':
    case 'expired':
      return `${task.state}: ${final?.message ?? task.error?.message ?? '(no attribution)'}`;
    case 'canceled':
      return 'was canceled';
    case 'running':
      return (
        `runs at ${task.agent_id ?? '(unknown)'} since ${task.acked_at?.toISOString() ?? '(unknown)'}` +
        (task.progress?.note === undefined ? '' : `; its last word is "${task.progress.note}"`)
      );
    case 'offered':
      return `was offered to ${task.agent_id ?? '(unknown)'} and waits for its acknowledgement`;
    case 'scheduled':
      return `waits for its time, ${task.run_at.toISOString()}${retries > 0 ? `, ${after(retries)}` : ''}`;
    case 'queued':
      return `waits: ${hindered(task.capability, hindrance)}`;
  }
}

function after(failures: number): string {
  return `after ${failures} failed ${failures === 1 ? 'attempt' : 'attempts'}`;
}

function hindered(capability: string, h: Hindrance): string {
  switch (h.kind) {
    case 'paused':
      return `capability ${h.capability} is paused${h.reason === '' ? '' : `: ${h.reason}`}`;
    case 'failing':
      return `tasks cannot be given out now: ${h.reason}`;
    case 'unacknowledged':
      return `${h.agentId} was offered it, and did not acknowledge in time`;
    case 'not_due':
      return `its time comes at ${h.runAt}`;
    case 'no_capable':
      return h.rejections.length === 0
        ? `no registered agent offers ${capability}`
        : `no agent fits ${capability}: ${named(h)}`;
    case 'no_reachable':
      return `no agent with ${capability} is reachable: ${named(h)}`;
    case 'busy':
      return `every agent with ${capability} is busy: ${named(h)}`;
  }
}

function named(shortage: Shortage): string {
  return shortage.rejections.map((r) => `${r.agentId} ${r.reason}`).join('; ');
}
