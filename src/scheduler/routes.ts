import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { slotsOf } from '../core/eligibility.js';
import { laneLabel } from '../core/lane.js';
import { scoreOf } from '../core/score.js';
import { agentKey } from '../registry/agent-row.js';
import { Aliases } from '../registry/aliases.js';
import { ReachTable } from '../registry/reach-table.js';
import { toRejectedView } from './decision-view.js';
import { Outcomes } from './outcomes.js';
import { Policies } from './policy/policies.js';
import { requirementFor } from './requirement.js';
import type { OutcomesBody, outcomesAnswer, routeAnswer, RouteQuery } from './routes.wire.js';
import { Standings } from './standings.js';

/** How long advice may be relied upon: until then an agent that dies is noticed. */
const EXPIRES_IN_S = 30;
const RETRY_MS = { least: 100, most: 800 };

/** Advice to callers that call agents themselves, and what they report of it. */
@Injectable()
export class Routes {
  constructor(
    private readonly table: ReachTable,
    private readonly policies: Policies,
    private readonly standings: Standings,
    private readonly outcomes: Outcomes,
    private readonly aliases: Aliases,
  ) {}

  /** @throws ReachError VALIDATION_FAILED */
  advise(capability: string, query: RouteQuery): z.input<typeof routeAnswer> {
    const { namespace, source_agent_id: source, zone, limit } = query;
    const constraints = {
      ...(zone !== undefined && { zone }),
      ...(source !== undefined && { exclude: [source] }),
    };
    const requirement = {
      ...requirementFor({ namespace, capability, constraints }, this.aliases),
      direct: true,
    } as const;
    const { policy } = this.policies.for(requirement);
    const { agents, panic, rejected } = this.table.someEligible(requirement, limit, policy.panic);
    const kind = laneLabel(requirement);
    const scored = agents.map((entry) => {
      const input = this.standings.inputOf(entry, kind, panic);
      return { entry, input, score: scoreOf(input, policy).total };
    });
    scored.sort((a, b) => Number(a.entry.throttled) - Number(b.entry.throttled) || b.score - a.score);
    return {
      updated_at: new Date().toISOString(),
      candidates: scored.slice(0, limit).map(({ entry, input, score }) => ({
        agent_id: entry.agentId,
        endpoint: entry.endpoint ?? '',
        score: Math.round(Math.min(1, score) * 100),
        ...(input.p95Ms !== undefined && { estimated_p95_ms: input.p95Ms }),
        expires_in: EXPIRES_IN_S,
        throttled: entry.throttled,
        free_slots: slotsOf(entry, panic) - entry.inFlight,
      })),
      retry_after_ms: Math.round(RETRY_MS.least + Math.random() * (RETRY_MS.most - RETRY_MS.least)),
      rejected: toRejectedView(rejected),
    };
  }

  /** Counts what callers say of their calls, on all replicas. */
  report({ namespace, outcomes }: OutcomesBody): z.input<typeof outcomesAnswer> {
    const ignored: { position: number; reason: string }[] = [];
    const calls: Parameters<Outcomes['reported']>[0][number][] = [];
    outcomes.forEach(({ agent_id: id, capability, ok, took_ms: tookMs, code = 'AGENT_ERROR' }, position) => {
      const key = agentKey(namespace, id);
      const entry = this.table.get(key);
      if (entry === undefined) ignored.push({ position, reason: `there is no agent ${id}` });
      else if (!entry.capabilities.has(capability))
        ignored.push({ position, reason: `agent ${id} does not offer ${capability}` });
      else calls.push([key, capability, ok ? null : code, Math.round(tookMs)]);
    });
    if (calls.length > 0) this.outcomes.reported(calls);
    return { counted: calls.length, ignored };
  }
}
