import { Injectable, Logger } from '@nestjs/common';
import { attribute } from '../core/attribution.js';
import type { Shortage } from '../core/eligibility.js';
import { wireCode } from '../core/errors.js';
import { laneLabel, requirementOf } from '../core/lane.js';
import { storableJson } from '../core/text.js';
import { newId } from '../platform/ids.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { Hearing } from '../registry/hearing.js';
import { recipient } from './callback-event.js';
import { Outcomes } from './outcomes.js';
import type { OnDegrade } from './policy/policy.wire.js';

const FAIL = loadSql(import.meta.url, 'sql/fail_unplaceable.sql');
const BATCH = 500;
/** After an absence of ours agents get so long to be back: it is not they who were away. */
const HEARD_MS = 5000;

export interface Unplaceable {
  lane: string;
  /** For so long they have waited. */
  waitedMs: number;
  shortage: Shortage;
  /** Whether only those that went to a fallback already; they do so once. */
  divertedOnly: boolean;
  /** Who is told of it. */
  told: OnDegrade | null;
}

/** Ends tasks that nobody can be reached for, where their policy is not to wait for somebody. */
@Injectable()
export class UnplaceableTasks {
  private readonly log = new Logger(UnplaceableTasks.name);

  constructor(
    private readonly sql: Sql,
    private readonly hearing: Hearing,
    private readonly outcomes: Outcomes,
  ) {}

  /** Some at a time; the rest at the next call. */
  async fail({ lane, waitedMs, shortage, divertedOnly, told }: Unplaceable): Promise<void> {
    if (this.hearing.unbrokenMs() < HEARD_MS) return;
    const requirement = requirementOf(lane);
    const cause = attribute({ kind: 'unplaceable', capability: laneLabel(requirement), shortage });
    const { rows } = await this.sql.run<{ id: string; capability: string }>('fail_unplaceable', FAIL, [
      lane,
      waitedMs,
      divertedOnly,
      cause.code,
      storableJson({ code: wireCode(cause.code), message: cause.message, retryable: true }),
      cause.blame,
      cause.message,
      evidenceOf(shortage),
      Array.from({ length: BATCH }, newId),
      ...recipient(told),
    ]);
    if (rows.length === 0) return;
    this.outcomes.report(
      rows.map(({ id, capability }) => ({
        taskId: id,
        state: 'failed',
        lane,
        capability,
        depth: -1 as const,
        code: cause.code,
      })),
    );
    this.log.warn({
      msg: `${rows.length} tasks failed: ${cause.message}`,
      namespace: requirement.namespace,
      failed: rows.length,
    });
  }
}

function evidenceOf(shortage: Shortage): string {
  return storableJson({
    incident: 'unplaceable',
    hindrance: shortage.kind,
    candidates: shortage.rejections.map((r) => ({ agent_id: r.agentId, filter: r.filter, reason: r.reason })),
  });
}
