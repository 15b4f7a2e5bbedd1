import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { judgeAgent, mayChange } from '../core/agent-state.js';
import { plainTexts } from '../core/text.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { BatchWriter } from '../platform/postgres/batch-writer.js';
import { judgedFacts, mergeFacts, reachFactsOf, type FactsPatch } from './agent-facts.js';
import { agentKey, type AgentRow } from './agent-row.js';
import { RegistryStore, type Judgement, type LeaseRef, type SweptRow } from './registry.store.js';
import { Transitions } from './transitions.js';

/** How often a write is tried that others were faster than; each of them made progress meanwhile. */
const MOST_TRIES = 20;

interface Report {
  ref: LeaseRef;
  patch: FactsPatch;
  evidence: Record<string, unknown>;
}

type Answer = { row: AgentRow | undefined } | { error: Error };

/** What was reported of one agent under one lease, in the order of its arrival. */
interface Pending {
  ref: LeaseRef;
  reports: Report[];
}

/**
 * The one writer of states from facts. What was observed is merged into what is known, the whole is judged, and both
 * are written by one statement with the row of the history, guarded by the lease and by what was read. Reports are
 * written many at a time: a dependency that a thousand agents share changes a thousand of them at once.
 */
@Injectable()
export class AgentJudge {
  private readonly writer: BatchWriter<Report, Answer>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly store: RegistryStore,
    private readonly transitions: Transitions,
  ) {
    this.writer = new BatchWriter({
      name: 'facts of agents',
      maxBatch: 500,
      maxQueue: 50_000,
      write: (reports) => this.judge(reports),
    });
  }

  /**
   * Takes over what was observed of an agent under a lease, and judges it anew. Texts may be the words of strangers:
   * whoever reports them, they are stored on one line and without control characters, which Postgres would refuse and
   * a terminal would obey.
   * @param evidence what the observation was, for the history
   * @returns the agent as it is then, or undefined when that is not its lease any more: nothing was changed then
   * @throws Overloaded, or the database's error: nothing was changed, or it is not known; to be reported again
   */
  async report(
    ref: LeaseRef,
    patch: FactsPatch,
    evidence: Record<string, unknown> = {},
  ): Promise<AgentRow | undefined> {
    const answer = await this.writer.write({ ref, patch: plainTexts(patch), evidence: plainTexts(evidence) });
    if ('error' in answer) throw answer.error;
    return answer.row;
  }

  private async judge(reports: readonly Report[]): Promise<Answer[]> {
    const answers = new Map<Report, Answer>();
    let todo = grouped(reports);
    for (let tries = 0; todo.length > 0 && tries < MOST_TRIES; tries++)
      todo = await this.round(todo, answers);
    const error = new Error('the agent was changed by others again and again; report once more');
    return reports.map((report) => answers.get(report) ?? { error });
  }

  /** Reads, judges and writes once; returns those that others were faster than. */
  private async round(todo: readonly Pending[], answers: Map<Report, Answer>): Promise<Pending[]> {
    const settle = (pending: Pending, row: AgentRow | undefined): void => {
      for (const report of pending.reports) answers.set(report, { row });
    };
    const rows = await this.store.readForJudging(todo.map((p) => p.ref));
    const writes: { pending: Pending; judgement: Judgement }[] = [];
    todo.forEach((pending, i) => {
      const row = rows[i];
      const judgement = row === undefined ? undefined : this.judgementOf(row, pending.reports);
      if (judgement === undefined) settle(pending, row);
      else writes.push({ pending, judgement });
    });
    if (writes.length === 0) return [];
    const written = await this.store.writeJudged(writes.map((w) => w.judgement));
    const told = new Map<SweptRow, Record<string, unknown>>();
    const again: Pending[] = [];
    writes.forEach(({ pending, judgement }, i) => {
      const row = written[i];
      if (row === undefined) {
        again.push(pending);
        return;
      }
      settle(pending, row);
      if (judgement.notable) told.set({ ...row, from_state: judgement.row.state }, judgement.evidence);
    });
    this.transitions.tell([...told.keys()], (row) => told.get(row) ?? {});
    return again;
  }

  /** What is to be written, or undefined when the reports change nothing. */
  private judgementOf(row: AgentRow, reports: readonly Report[]): Judgement | undefined {
    const facts = reports.reduce((known, r) => mergeFacts(known, r.patch, row.dependencies), row.facts);
    const judged = judgedFacts(row, facts);
    const verdict = judgeAgent(judged);
    const moves = verdict.state !== row.state && mayChange(row.state, verdict.state);
    const stays = verdict.state === row.state && !keepsReason(row);
    const state = moves ? verdict.state : row.state;
    const reason = moves || stays ? verdict.reason : row.state_reason;
    const notable =
      state !== row.state || reason !== row.state_reason || this.reachOf(row) !== this.reachOf(row, facts);
    if (!notable && isDeepStrictEqual(facts, mergeFacts(row.facts, {}, row.dependencies))) return undefined;
    const evidence = Object.assign({}, ...reports.map((r) => r.evidence)) as Record<string, unknown>;
    return { row, facts, state, reason, notable, judged, evidence };
  }

  private reachOf(row: AgentRow, facts = row.facts): string {
    return JSON.stringify(reachFactsOf(row, facts, this.config.warmUpProbes));
  }
}

/** The reason of an end is the moment's, and is not found anew from facts; nor is the word of a registration. */
function keepsReason(row: AgentRow): boolean {
  return row.state === 'offline' || row.state === 'removing' || row.state === 'online';
}

function grouped(reports: readonly Report[]): Pending[] {
  const byLease = new Map<string, Pending>();
  for (const report of reports) {
    const key = `${agentKey(report.ref.namespace, report.ref.agentId)}\u0000${report.ref.leaseId}`;
    const pending = byLease.get(key);
    if (pending === undefined) byLease.set(key, { ref: report.ref, reports: [report] });
    else pending.reports.push(report);
  }
  return [...byLease.values()];
}
