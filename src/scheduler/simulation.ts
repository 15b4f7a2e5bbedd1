import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Refusal } from '../core/eligibility.js';
import { eligibleOf } from '../core/eligibility.js';
import { laneLabel, type Requirement } from '../core/lane.js';
import type { Policy } from '../core/policy.js';
import { scoreOf } from '../core/score.js';
import { choose, freshest, type Inputs, selectByAffinity } from '../core/selection.js';
import { Aliases } from '../registry/aliases.js';
import { type ReachEntry, ReachTable } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import { toScoredAgent } from './decision-view.js';
import { Policies } from './policy/policies.js';
import { requirementFor } from './requirement.js';
import type { SimulateBody, simulateAnswer } from './simulation.wire.js';
import { Standings } from './standings.js';

/** Choices that a share is counted from. */
const DRAWS = 1000;

type Answer = z.input<typeof simulateAnswer>;
type Shown = Answer['candidates'][number];

/** The decision that a task would meet now, without a task: who would get it, and why nobody else. */
@Injectable()
export class Simulation {
  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly policies: Policies,
    private readonly standings: Standings,
    private readonly aliases: Aliases,
  ) {}

  /** @throws ReachError VALIDATION_FAILED */
  simulate(body: SimulateBody): Answer {
    const requirement = requirementFor(body, this.aliases);
    const { policy } = this.policies.for(requirement);
    const candidates = [...this.table.candidates(requirement)];
    const { agents, panic, rejected } = eligibleOf(candidates, requirement, policy.panic, body.limit);
    const open = freshest(agents, body.tried);
    const inputs = once(this.standings.inputsOf(open, laneLabel(requirement), panic));
    const paused = this.switches.blocking(requirement);
    const key = body.affinity_key;
    const chosen = key === undefined ? undefined : selectByAffinity(open, key)?.agentId;
    const shares = key === undefined ? sharesOf(inputs, policy) : new Map([[chosen, 1]]);
    const likeliest = chosen ?? [...shares].sort(([, a], [, b]) => b - a)[0]?.[0];
    const shareOf = ({ agentId }: ReachEntry) => shares.get(agentId) ?? 0;
    const first = [...open].sort((a, b) => shareOf(b) - shareOf(a)).slice(0, body.limit);
    const tried = agents
      .filter((e) => body.tried.includes(e.agentId) && !first.includes(e))
      .slice(0, body.limit - first.length);
    const shown = [
      ...first.map((entry) => {
        const verdict = entry.agentId === likeliest ? 'chosen' : 'eligible';
        return this.shown(entry, requirement, policy, { verdict, share: shareOf(entry) });
      }),
      ...tried.map((entry) => this.shown(entry, requirement, policy, { verdict: 'tried', reason: TRIED })),
    ].sort((a, b) => (b.share ?? -1) - (a.share ?? -1) || (b.score ?? 0) - (a.score ?? 0));
    const refused = rejected.named.slice(0, body.limit - shown.length);
    return {
      at: new Date().toISOString(),
      by: open.length === 0 ? 'nobody' : key === undefined ? 'selection' : 'affinity',
      ...(likeliest !== undefined && { chosen: likeliest }),
      ...(paused !== undefined && { paused }),
      ...(panic && agents.length > 0 && { panic }),
      strategy: policy.strategy,
      candidates: [...shown, ...this.refused(candidates, refused, requirement, policy)],
      total: candidates.length,
    };
  }

  private refused(
    candidates: readonly ReachEntry[],
    refusals: readonly Refusal[],
    requirement: Requirement,
    policy: Policy,
  ): Shown[] {
    const byId = new Map(candidates.map((entry) => [entry.agentId, entry]));
    return refusals.flatMap(({ agentId, filter, reason }) => {
      const entry = byId.get(agentId);
      return entry === undefined
        ? []
        : [this.shown(entry, requirement, policy, { verdict: 'rejected', filter, reason })];
    });
  }

  private shown(
    entry: ReachEntry,
    requirement: Requirement,
    policy: Policy,
    said: Pick<Shown, 'verdict' | 'filter' | 'reason' | 'share'>,
  ): Shown {
    const input = this.standings.inputOf(entry, laneLabel(requirement), false);
    const { name, state } = entry;
    return { ...toScoredAgent(input, scoreOf(input, policy)), name, state, ...said };
  }
}

const TRIED = 'tried it before; others go first';

/** Figures of each agent are made when it is compared the first time: a thousand choices compare the same again and again. */
function once(inputs: Inputs): Inputs {
  const made: ReturnType<Inputs['at']>[] = [];
  return { length: inputs.length, at: (i) => (made[i] ??= inputs.at(i)) };
}

/** How a thousand choices that differ in their seed alone would fall. */
function sharesOf(inputs: Inputs, policy: Policy): Map<string | undefined, number> {
  const shares = new Map<string | undefined, number>();
  const turn = new Map<string, number>();
  for (let seed = 0; seed < DRAWS; seed++) {
    const selection = choose(inputs, policy, { seed, turn });
    if (selection === undefined) break;
    for (const [agentId, has] of selection.turn ?? []) turn.set(agentId, has);
    const { agentId } = inputs.at(selection.index) ?? {};
    shares.set(agentId, (shares.get(agentId) ?? 0) + 1 / DRAWS);
  }
  for (const [agentId, share] of shares) shares.set(agentId, Math.round(share * DRAWS) / DRAWS);
  return shares;
}
