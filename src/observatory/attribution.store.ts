import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { wireCode } from '../core/errors.js';
import type { Blame, Stage } from '../core/attribution.js';
import { deliveryIdOf } from '../core/task-state.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql, type SqlRunner } from '../platform/postgres/sql.js';
import type { AttributionFilters, attributionView } from './observatory.wire.js';

const PAGE = loadSql(import.meta.url, 'sql/attributions_page.sql');
const SUMMARY = loadSql(import.meta.url, 'sql/attributions_summary.sql');
const AGENT_MOMENTS = loadSql(import.meta.url, 'sql/agent_moments.sql');

export interface AttributionRow {
  id: string;
  namespace: string;
  task_id: string;
  fence: number | null;
  attempt: number;
  final: boolean;
  stage: Stage;
  code: string;
  blame: Blame;
  agent_id: string | null;
  dependency: string | null;
  capability: string;
  message: string;
  evidence: Record<string, unknown>;
  at: Date;
}

export interface SummaryRow {
  key: string | null;
  attempts: number;
  tasks: number;
  last_at: Date;
}

export interface AgentMoment {
  agent_id: string;
  from_state: string | null;
  to_state: string;
  reason: string;
  at: Date;
}

/** Reads of attributions, and of the agent states around them. */
@Injectable()
export class AttributionStore {
  constructor(private readonly sql: Sql) {}

  /** Newest first, before `beforeId`. */
  async page(
    f: AttributionFilters,
    beforeId: string | null,
    limit: number,
    on: SqlRunner = this.sql,
  ): Promise<AttributionRow[]> {
    const params = [...filterParams(f), beforeId, limit];
    return (await on.run<AttributionRow>('attributions_page', PAGE, params)).rows;
  }

  async summary(f: AttributionFilters, groupBy: string): Promise<SummaryRow[]> {
    const params = [...filterParams(f), groupBy];
    return (await this.sql.run<SummaryRow>('attributions_summary', SUMMARY, params)).rows;
  }

  /** State changes of these agents within a span of time, oldest first. */
  async agentMoments(
    namespace: string,
    agentIds: readonly string[],
    from: Date,
    to: Date,
    on: SqlRunner = this.sql,
  ): Promise<AgentMoment[]> {
    if (agentIds.length === 0) return [];
    const params = [namespace, agentIds, from, to];
    return (await on.run<AgentMoment>('agent_moments', AGENT_MOMENTS, params)).rows;
  }
}

function filterParams(f: AttributionFilters): unknown[] {
  return [
    f.namespace,
    f.task_id ?? null,
    f.code === undefined ? null : wireCode(f.code).slice(wireCode('').length),
    f.blame ?? null,
    f.agent_id ?? null,
    f.dependency ?? null,
    f.capability ?? null,
    f.since ?? null,
    f.until ?? null,
  ];
}

/** The row as the API shows it. */
export function toAttributionView(a: AttributionRow): z.input<typeof attributionView> {
  return {
    attribution_id: a.id,
    namespace: a.namespace,
    task_id: a.task_id,
    ...(a.fence !== null && { delivery_id: deliveryIdOf(a.task_id, a.fence) }),
    attempt: a.attempt,
    final: a.final,
    stage: a.stage,
    code: wireCode(a.code),
    blame: a.blame,
    ...(a.agent_id !== null && { agent_id: a.agent_id }),
    ...(a.dependency !== null && { dependency: a.dependency }),
    capability: a.capability,
    message: a.message,
    evidence: a.evidence,
    at: a.at.toISOString(),
  };
}
