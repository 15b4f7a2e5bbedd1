import { EventEmitter } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { AgentState } from '../core/agent-state.js';
import type { ReachEntry } from './reach-table.js';

/** An agent came from one state to another. */
export interface Transition {
  namespace: string;
  agentId: string;
  /** null: it was not known before */
  from: AgentState | null;
  to: AgentState;
  reason: string;
  at: Date;
  /** An operator holds it out of service: not a reason for alarm. */
  held: boolean;
  /** What was observed. */
  evidence: Record<string, unknown>;
  /** This replica committed it. */
  here: boolean;
}

interface RegistryEventMap {
  /** The entry is new, changed or gone, whoever changed it; `entry` is as it is now. */
  changed: [entry: ReachEntry];
  /** A capability was paused or resumed, on any replica. */
  switched: [];
  /** A change of state was committed, by whichever replica: each is told here once (`TransitionNews`). */
  transition: [transition: Transition];
}

interface AgentId {
  namespace: string;
  agentId: string;
}

/** News of the registry for the parts above it. */
@Injectable()
export class RegistryEvents extends EventEmitter<RegistryEventMap> {
  private readonly log = new Logger(RegistryEvents.name);
  private handOver: ((agent: AgentId) => Promise<void>) | undefined;

  /**
   * Listens to an event. What a listener throws is logged and ends there: the change it hears of is committed, so
   * neither whoever made it nor the other listeners may suffer for it.
   */
  listen<K extends keyof RegistryEventMap>(event: K, listener: (...args: RegistryEventMap[K]) => void): void {
    const guarded = (...args: RegistryEventMap[K]): void => {
      try {
        listener(...args);
      } catch (err) {
        this.log.error({ msg: `a listener of "${event}" failed`, err });
      }
    };
    this.on(event, guarded as Parameters<typeof this.on<K>>[1]);
  }

  /** Says who looks after what a lost agent holds; `handOver` never rejects. */
  connect(handOver: (agent: AgentId) => Promise<void>): void {
    this.handOver = handOver;
  }

  /**
   * This replica ended or superseded a lease, or began a removal: what the agent holds needs a look. Resolves
   * when that is done, so that whoever is answered after it finds no delivery that the old lease may still report.
   */
  async lost(agent: AgentId): Promise<void> {
    await this.handOver?.(agent);
  }
}
