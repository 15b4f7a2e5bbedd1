import { Injectable, Logger } from '@nestjs/common';
import { WORKING_STATES } from '../core/agent-state.js';
import type { AgentRow } from './agent-row.js';
import { ReachSync } from './reach-sync.js';
import { RegistryEvents, type Transition } from './registry.events.js';
import type { SweptRow } from './registry.store.js';

/** What happens after a change of state was committed, whoever judged it: the other replicas, the log, the event. */
@Injectable()
export class Transitions {
  private readonly log = new Logger(Transitions.name);

  constructor(
    private readonly sync: ReachSync,
    private readonly events: RegistryEvents,
  ) {}

  /** @param evidence what was observed, by the row it is about */
  tell(rows: readonly SweptRow[], evidence: (row: SweptRow) => Record<string, unknown> = () => ({})): void {
    this.sync.spread(rows.map(withoutOrigin));
    for (const row of rows) if (row.from_state !== row.state) this.tellOne(row, evidence(row));
  }

  private tellOne(row: SweptRow, evidence: Record<string, unknown>): void {
    const held = row.held_since !== null;
    const transition: Transition = {
      namespace: row.namespace,
      agentId: row.agent_id,
      from: row.from_state,
      to: row.state,
      reason: row.state_reason,
      at: row.state_since,
      held,
      evidence,
      here: true,
    };
    // An operator who holds an agent knows that something is the matter with it.
    const alarming = !held && row.state !== 'removing' && row.state_reason !== 'registered';
    const line = {
      event: 'reach_status_change',
      msg: `agent ${row.agent_id} is ${row.state}: ${row.state_reason}`,
      namespace: row.namespace,
      agent_id: row.agent_id,
      from: row.from_state,
      state: row.state,
      reason: row.state_reason,
      last_heartbeat_at: row.last_heartbeat_at,
      ...(held && { held }),
      ...(Object.keys(evidence).length > 0 && { evidence }),
    };
    if (alarming && (row.state === 'degraded' || !WORKING_STATES.includes(row.state))) this.log.warn(line);
    else this.log.log(line);
    this.events.emit('transition', transition);
  }
}

function withoutOrigin(row: SweptRow): AgentRow {
  const { from_state: _, ...agent } = row;
  return agent;
}
