import { Injectable } from '@nestjs/common';
import type { Requirement } from '../core/lane.js';
import { agentKey } from './agent-row.js';
import type { SwitchRow } from './registry.store.js';

/** Which capabilities are paused, in memory. Paused: tasks are taken and wait; nothing is offered. */
@Injectable()
export class Switches {
  private paused = new Map<string, string>();

  /** Takes over the whole truth; returns whether anything changed. */
  replace(rows: readonly SwitchRow[]): boolean {
    const next = new Map(rows.map((r) => [agentKey(r.namespace, r.capability), r.reason]));
    const same =
      next.size === this.paused.size && [...next].every(([key, reason]) => this.paused.get(key) === reason);
    this.paused = next;
    return !same;
  }

  /** Why the capability is paused, or undefined when it is not. */
  reason(namespace: string, capability: string): string | undefined {
    return this.paused.get(agentKey(namespace, capability));
  }

  /** Names of the paused capabilities of a namespace. */
  pausedIn(namespace: string): string[] {
    const prefix = agentKey(namespace, '');
    return [...this.paused.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length));
  }

  /** The first capability of the requirement that is paused. */
  blocking(r: Requirement): string | undefined {
    return r.capabilities.find((need) => this.paused.has(agentKey(r.namespace, need.name)))?.name;
  }
}
