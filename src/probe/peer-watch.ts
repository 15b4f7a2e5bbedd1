import { Inject, Injectable } from '@nestjs/common';
import type { AgentState } from '../core/agent-state.js';
import { ownerOf, type Member } from '../core/ownership.js';
import type { Standing } from '../core/verdict.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import type { ProbeFact } from '../registry/agent-facts.js';
import { agentKey } from '../registry/agent-row.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { Replicas } from './replicas.js';
import { Reporter } from './reporter.js';
import { differs } from './watched.js';

/** What the state of an agent means for those that need it. Degraded ones work; so two that need each other can start. */
const STANDINGS: Readonly<Record<AgentState, Standing>> = {
  online: 'good',
  degraded: 'good',
  suspicious: 'suspect',
  offline: 'bad',
  removing: 'bad',
};

const BEST_FIRST: readonly Standing[] = ['good', 'suspect', 'bad'];

/**
 * Dependencies of the type `agent`: nothing is probed, the other agent's state (and so its echo) is the verdict. The
 * target is an agent id, or the name of a group: then one instance that works is enough.
 */
@Injectable()
export class PeerWatch {
  /** By the key of the agent or the group that is needed: the keys of those that need it. */
  private readonly needing = new Map<string, Set<string>>();
  private readonly needs = new Map<string, readonly string[]>();
  /** By the key of an agent: the key of its group. */
  private readonly groups = new Map<string, string>();
  private live: readonly Member[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly table: ReachTable,
    private readonly replicas: Replicas,
    private readonly reporter: Reporter,
  ) {}

  setLive(live: readonly Member[]): void {
    this.live = live;
  }

  /** The agent is as `entry` says; undefined: it is gone, or nothing about it is to be found out. */
  follow(key: string, entry: ReachEntry | undefined): void {
    this.note(key, entry === undefined ? [] : peersOf(entry).map((p) => p.key));
    if (entry !== undefined) this.judge(entry);
    const before = this.groups.get(key);
    const now = entry === undefined ? undefined : agentKey(entry.namespace, entry.name);
    if (now === undefined) this.groups.delete(key);
    else this.groups.set(key, now);
    for (const changed of new Set([key, before, now]))
      if (changed !== undefined) this.judgeDependents(changed);
  }

  private judgeDependents(needed: string): void {
    for (const dependent of this.needing.get(needed) ?? []) {
      const other = this.table.get(dependent);
      if (other !== undefined) this.judge(other);
    }
  }

  private note(key: string, peers: readonly string[]): void {
    for (const peer of this.needs.get(key) ?? []) {
      const dependents = this.needing.get(peer);
      dependents?.delete(key);
      if (dependents?.size === 0) this.needing.delete(peer);
    }
    if (peers.length === 0) this.needs.delete(key);
    else this.needs.set(key, peers);
    for (const peer of peers) {
      const dependents = this.needing.get(peer);
      if (dependents === undefined) this.needing.set(peer, new Set([key]));
      else dependents.add(key);
    }
  }

  private judge(entry: ReachEntry): void {
    const { namespace, agentId, leaseId } = entry;
    for (const { key, name, target } of peersOf(entry)) {
      if (ownerOf(`peer ${key}`, this.live, undefined) !== this.config.replicaId) continue;
      const fact = this.factOf(target, this.peersFor(namespace, target));
      const known = entry.facts.dependencies?.[name];
      if (known !== undefined && !differs(known, fact)) continue;
      const patch = { dependencies: { [name]: fact } };
      const evidence = { dependency: name, detail: fact.detail ?? 'the other agent works' };
      this.reporter.report(`dependency ${name}`, { ref: { namespace, agentId, leaseId }, patch, evidence });
    }
  }

  /** The agent of that id, else the agents of that name. */
  private peersFor(namespace: string, target: string): ReachEntry[] {
    const one = this.table.get(agentKey(namespace, target));
    if (one !== undefined) return [one];
    return [...this.table.candidates({ namespace, name: target, capabilities: [] })];
  }

  private factOf(target: string, peers: readonly ReachEntry[]): ProbeFact {
    const [peer] = [...peers].sort((a, b) => rankOf(a) - rankOf(b));
    const standing = peer === undefined ? 'bad' : STANDINGS[peer.state];
    const nowMs = Math.floor(this.replicas.clockMs());
    const fact = { standing, seq: nowMs, sinceMs: nowMs, failures: 0, successes: 0 };
    if (standing === 'good') return { ...fact, successes: 1 };
    const fault = peer?.state ?? 'unregistered';
    return { ...fact, failures: 1, fault, detail: detailOf(target, peers.length, peer) };
  }
}

function rankOf(peer: ReachEntry): number {
  return BEST_FIRST.indexOf(STANDINGS[peer.state]);
}

function detailOf(target: string, count: number, best: ReachEntry | undefined): string {
  if (best === undefined) return `no agent has the id or the name ${target}`;
  const how = `${best.state}: ${best.stateReason}`;
  if (count === 1) return `agent ${best.agentId} is ${how}`;
  return `none of the ${count} agents named ${target} works; ${best.agentId} is ${how}`;
}

function peersOf(entry: ReachEntry): { key: string; name: string; target: string }[] {
  return entry.dependencies.flatMap((d) => {
    const { type, target, name } = d;
    if (type !== 'agent' || typeof target !== 'string') return [];
    return [{ key: agentKey(entry.namespace, target), name, target }];
  });
}
