import { Injectable } from '@nestjs/common';
import type { Requirement } from '../core/lane.js';
import { agentKey } from './agent-row.js';

export interface AliasRow {
  namespace: string;
  alias: string;
  capability: string;
  changed_by: string;
  changed_at: Date;
}

/** Other names of capabilities, in memory: asked at each admission, and for each agent that is taken over. */
@Injectable()
export class Aliases {
  private targets = new Map<string, string>();

  /** Takes over the whole truth; returns whether anything changed. */
  replace(rows: readonly AliasRow[]): boolean {
    const next = new Map(rows.map((r) => [agentKey(r.namespace, r.alias), r.capability]));
    const same =
      next.size === this.targets.size && [...next].every(([key, target]) => this.targets.get(key) === target);
    this.targets = next;
    return !same;
  }

  /** The capability that is meant by a name: the name itself, unless it is an alias. */
  resolve(namespace: string, name: string): string {
    if (this.targets.size === 0) return name;
    return this.targets.get(agentKey(namespace, name)) ?? name;
  }

  /** Whether there is one anywhere. */
  get any(): boolean {
    return this.targets.size > 0;
  }

  isAlias(namespace: string, name: string): boolean {
    return this.targets.has(agentKey(namespace, name));
  }

  /** Whether a requirement names one: it is of a task that was taken before that became an alias. */
  among({ namespace, capabilities }: Pick<Requirement, 'namespace' | 'capabilities'>): boolean {
    return this.any && capabilities.some((need) => this.isAlias(namespace, need.name));
  }

  /** The aliases of a capability, sorted. */
  of(namespace: string, capability: string): string[] {
    const prefix = agentKey(namespace, '');
    return [...this.targets]
      .filter(([key, target]) => target === capability && key.startsWith(prefix))
      .map(([key]) => key.slice(prefix.length))
      .sort();
  }
}
