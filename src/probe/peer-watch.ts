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

/** Dependencies of the type `agent`: nothing is probed, the other agent's state (and so its echo) is the verdict. */
@Injectable()
export class PeerWatch {
  /** By the key of the agent that is needed: the keys of those that need it. */
  private readonly needing = new Map<string, Set<string>>();
  private readonly needs = new Map<string, readonly string[]>();
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
    for (const dependent of this.needing.get(key) ?? []) {
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
    for (const { key, name } of peersOf(entry)) {
      if (ownerOf(`peer ${key}`, this.live, undefined) !== this.config.replicaId) continue;
      const fact = this.factOf(this.table.get(key));
      const known = entry.facts.dependencies?.[name];
      if (known !== undefined && !differs(known, fact)) continue;
      const patch = { dependencies: { [name]: fact } };
      const evidence = { dependency: name, detail: fact.detail ?? 'the other agent works' };
      this.reporter.report(`dependency ${name}`, { ref: { namespace, agentId, leaseId }, patch, evidence });
    }
  }

  private factOf(peer: ReachEntry | undefined): ProbeFact {
    const standing = peer === undefined ? 'bad' : STANDINGS[peer.state];
    const nowMs = Math.floor(this.replicas.clockMs());
    const fact = { standing, seq: nowMs, sinceMs: nowMs, failures: 0, successes: 0 };
    if (standing === 'good') return { ...fact, successes: 1 };
    const fault = peer?.state ?? 'unregistered';
    const detail =
      peer === undefined ? 'there is no such agent' : `the other agent is ${fault}: ${peer.stateReason}`;
    return { ...fact, failures: 1, fault, detail };
  }
}

function peersOf(entry: ReachEntry): { key: string; name: string }[] {
  return entry.dependencies
    .filter((d) => d.type === 'agent' && typeof d['target'] === 'string')
    .map((d) => ({ key: agentKey(entry.namespace, d['target'] as string), name: d.name }));
}
