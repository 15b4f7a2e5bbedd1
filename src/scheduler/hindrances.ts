import { Injectable } from '@nestjs/common';
import type { Hindrance } from '../core/attribution.js';
import { explainShortage } from '../core/eligibility.js';
import { requirementOf } from '../core/lane.js';
import { ReachTable } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import { Lanes } from './lanes.js';
import { Policies } from './policy/policies.js';

/** What keeps the tasks of a lane waiting, as far as this replica can tell. */
@Injectable()
export class Hindrances {
  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly lanes: Lanes,
    private readonly policies: Policies,
  ) {}

  of(lane: string): Hindrance {
    const requirement = requirementOf(lane);
    const paused = this.switches.blocking(requirement);
    if (paused !== undefined) {
      const reason = this.switches.reason(requirement.namespace, paused) ?? '';
      return { kind: 'paused', capability: paused, reason };
    }
    const { panic } = this.policies.for(requirement).policy;
    const shortage = explainShortage(this.table.candidates(requirement), requirement, panic);
    const failure = this.lanes.failureOf(lane);
    // Where nobody could take it anyway, that is what a person has to see to first.
    if (shortage.kind === 'busy' && failure !== undefined) return { kind: 'failing', reason: failure };
    return shortage;
  }
}
