import { Inject, Injectable, Logger } from '@nestjs/common';
import type { z } from 'zod';
import { judgeAgent } from '../core/agent-state.js';
import { ReachError } from '../core/errors.js';
import { nearMiss } from '../core/near-miss.js';
import { COLD } from '../core/warm-up.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { newId } from '../platform/ids.js';
import { judgedFacts, type StoredFacts } from './agent-facts.js';
import { AgentJudge } from './agent-judge.js';
import { agentKey, type AgentRow } from './agent-row.js';
import { Aliases } from './aliases.js';
import type { capacityReport, leaseAnswer, registerAnswer, RegisterBody } from './agents.wire.js';
import { ReachSync } from './reach-sync.js';
import { ReachTable } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';
import { RegistryStore, type AgentRowWithLoad, type LeaseRef, type SourceMark } from './registry.store.js';
import { Transitions } from './transitions.js';

/** An agent that registers with it answers echoes, and so can be warmed up. */
export const ECHO_FEATURE = 'echo';

type Capacity = z.output<typeof capacityReport>;

/** Agents come, stay by heartbeat, and go. Every call but `register` proves itself by the lease. */
@Injectable()
export class Registry {
  private readonly log = new Logger(Registry.name);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly store: RegistryStore,
    private readonly sync: ReachSync,
    private readonly events: RegistryEvents,
    private readonly table: ReachTable,
    private readonly aliases: Aliases,
    private readonly judge: AgentJudge,
    private readonly transitions: Transitions,
  ) {}

  /**
   * Registers an agent, or registers it anew: the lease it had before is superseded, and what was delivered
   * under that lease is handed over.
   * @param source registers on the agent's behalf
   * @throws ReachError VALIDATION_FAILED for a lease shorter than the intervals it must last; LEASE_SUPERSEDED when
   *   the lease it was to replace is not the agent's last one, or the one it asks for is over already
   */
  async register(body: RegisterBody, source?: SourceMark): Promise<z.input<typeof registerAnswer>> {
    const lease = this.leaseFor(body);
    const warnings = this.warningsFor(body);
    const registered = await this.store.register(body, lease, this.factsToBegin(body), source);
    if (registered === undefined) throw await this.whyNotReplaced(body);
    const { superseded_lease_id: superseded, ...row } = registered;
    this.transitions.tell([row]);
    const state = await this.judgeAnew(row);
    if (superseded !== null) await this.events.lost({ namespace: row.namespace, agentId: row.agent_id });
    this.log.log({
      event: 'reach_agent_registered',
      msg: `agent ${row.agent_id} registered`,
      namespace: row.namespace,
      agent_id: row.agent_id,
      capabilities: row.capabilities.map((c) => c.name),
      superseded_lease_id: superseded,
      ...(source !== undefined && { source: source.name }),
    });
    for (const msg of warnings) this.log.warn({ msg, namespace: row.namespace, agent_id: row.agent_id });
    return {
      agent_id: row.agent_id,
      namespace: row.namespace,
      lease_id: row.lease_id,
      lease_ttl_ms: row.lease_ttl_ms,
      heartbeat_interval_ms: row.heartbeat_interval_ms,
      state,
      ...(superseded !== null && { superseded_lease_id: superseded }),
      warnings,
    };
  }

  /** Names that were probably meant otherwise: nobody else offers them, and they look like one that is offered. */
  private warningsFor({ namespace, agent_id: agentId, capabilities }: RegisterBody): string[] {
    const own = this.table.get(agentKey(namespace, agentId));
    const warnings: string[] = [];
    for (const { name } of capabilities) {
      if (this.aliases.isAlias(namespace, name)) continue;
      const others = [...this.table.offered(namespace)]
        .map(([offered, agents]) => [offered, agents - (own?.capabilities.has(offered) ? 1 : 0)] as const)
        .filter(([, agents]) => agents > 0);
      if (others.some(([offered]) => offered === name)) continue;
      const meant = nearMiss(name, others);
      if (meant === undefined) continue;
      const by = meant.offered === 1 ? '1 agent' : `${meant.offered} agents`;
      warnings.push(`\`${name}\` looks like \`${meant.name}\`, offered by ${by}`);
    }
    return warnings;
  }

  /** The name under which the agent declared a capability that a task is for. */
  nameFor(ref: Pick<LeaseRef, 'namespace' | 'agentId'>, capability: string): string {
    return this.table.nameFor(agentKey(ref.namespace, ref.agentId), capability);
  }

  /** What is still known of its dependencies may speak against an agent that has just come. */
  private async judgeAnew(row: AgentRow): Promise<AgentRow['state']> {
    if (judgeAgent(judgedFacts(row)).state === row.state) return row.state;
    const ref = { namespace: row.namespace, agentId: row.agent_id, leaseId: row.lease_id };
    return (await this.judge.report(ref, {}))?.state ?? row.state;
  }

  private factsToBegin(body: RegisterBody): StoredFacts {
    const echoes = body.features.includes(ECHO_FEATURE);
    return {
      heartbeat: 'fresh',
      session: body.transport === 'session' ? 'open' : 'none',
      dependencies: {},
      ...(echoes && this.config.warmUpProbes > 0 && { warmUp: COLD }),
    };
  }

  private whyNotReplaced(body: RegisterBody): Promise<ReachError> {
    const leaseId = body.replaces_lease_id ?? body.lease_id ?? '';
    return this.whyNotRenewed({ namespace: body.namespace, agentId: body.agent_id, leaseId });
  }

  private leaseFor(body: RegisterBody): { id: string; ttlMs: number; intervalMs: number } {
    const intervalMs = body.heartbeat_interval_ms ?? this.config.heartbeatIntervalMs;
    const shortest = this.config.leaseIntervals * intervalMs;
    const ttlMs = body.lease_ttl_ms ?? shortest + this.config.leaseGraceMs;
    if (ttlMs < shortest) {
      const detail =
        `a lease of ${ttlMs} ms is shorter than ${this.config.leaseIntervals} heartbeat intervals of ` +
        `${intervalMs} ms (${shortest} ms): one late heartbeat would end it; ask for at least ${shortest} ms`;
      throw new ReachError('VALIDATION_FAILED', detail, { errors: [{ pointer: '/lease_ttl_ms', detail }] });
    }
    return { id: body.lease_id ?? newId(), ttlMs, intervalMs };
  }

  /**
   * Renews the lease; suspicion for want of heartbeats or of a session ends by it.
   * @param stillThere given where it came by a session: whether that still stands. A heartbeat that was under way
   *   when its session broke proves nothing about now
   * @throws ReachError LEASE_SUPERSEDED or LEASE_EXPIRED
   */
  async heartbeat(
    ref: LeaseRef,
    capacity?: Capacity,
    stillThere?: () => boolean,
  ): Promise<Omit<z.input<typeof leaseAnswer>, 'stale'>> {
    const renewed = await this.store.heartbeat({
      ...ref,
      capacity: capacity === undefined ? null : JSON.stringify(capacity),
    });
    if (renewed === undefined) throw await this.whyNotRenewed(ref);
    const session = stillThere === undefined ? 'none' : 'open';
    const row =
      renewed.doubted && (stillThere?.() ?? true)
        ? await this.judge.report(ref, { heartbeat: 'fresh', session })
        : undefined;
    const state = row?.state ?? renewed.state;
    return { lease_ttl_ms: renewed.leaseTtlMs, state, drain: state === 'removing' };
  }

  /** The agent's session broke: no new work until it is heard again; its lease decides the rest. */
  async sessionBroken(ref: LeaseRef, because: string): Promise<void> {
    await this.judge.report(ref, { session: 'broken' }, { because });
  }

  /**
   * The agent leaves: no new work, a drain time for what it holds.
   * @throws ReachError LEASE_SUPERSEDED or LEASE_EXPIRED
   */
  async deregister(ref: LeaseRef, drainMs?: number, reason = 'deregistered'): Promise<AgentRow> {
    const row = await this.remove(ref.namespace, ref.agentId, ref.leaseId, drainMs, reason);
    if (row !== undefined) return row;
    const known = await this.store.find(ref.namespace, ref.agentId);
    // Asked again after the answer got lost: it is leaving already, under this very lease.
    if (known?.lease_id === ref.leaseId && known.state === 'removing') return known;
    throw await this.whyNotRenewed(ref);
  }

  /**
   * An operator drains an agent.
   * @throws ReachError NOT_FOUND
   */
  async drain(namespace: string, agentId: string, drainMs?: number): Promise<AgentRow> {
    const row = await this.remove(namespace, agentId, null, drainMs, 'drained by an operator');
    if (row !== undefined) return row;
    const known = await this.store.find(namespace, agentId);
    if (known?.state === 'removing') return known;
    throw agentNotFound(namespace, agentId);
  }

  /**
   * An operator holds an agent out of service, until it is released: it finishes what it has and gets nothing new,
   * whatever its state, and across registrations. Nobody is alarmed about it meanwhile.
   * @param reason null releases it
   * @param by who ordered it, for the history
   * @throws ReachError NOT_FOUND
   */
  async hold(
    namespace: string,
    agentId: string,
    reason: string | null,
    by: string,
  ): Promise<AgentRowWithLoad> {
    const held = await this.store.hold(namespace, agentId, reason, by);
    if (held === undefined) throw agentNotFound(namespace, agentId);
    const { in_flight: _, ...row } = held;
    this.sync.spread([row]);
    this.log.log({
      event: reason === null ? 'reach_agent_released' : 'reach_agent_held',
      msg: `agent ${agentId} is ${reason === null ? 'released' : 'held out of service'} by an operator`,
      namespace,
      agent_id: agentId,
      by,
      ...(reason !== null && { reason }),
    });
    return held;
  }

  private async remove(
    namespace: string,
    agentId: string,
    leaseId: string | null,
    drainMs: number | undefined,
    reason: string,
  ): Promise<AgentRow | undefined> {
    const row = await this.store.beginRemoval(
      namespace,
      agentId,
      leaseId,
      drainMs ?? this.config.drainMs,
      reason,
    );
    if (row === undefined) return undefined;
    this.transitions.tell([row]);
    await this.events.lost({ namespace, agentId });
    return row;
  }

  /** The agent holds nothing any more: its row is kept, disabled. */
  async finishRemoval(namespace: string, agentId: string): Promise<void> {
    const row = await this.store.finishRemoval(namespace, agentId);
    if (row !== undefined) this.sync.spread([row]);
  }

  /**
   * Proves a lease without renewing it, from memory where that suffices: every change that an agent makes with it
   * is guarded again by the ledger.
   * @throws ReachError LEASE_SUPERSEDED or LEASE_EXPIRED
   */
  async requireLease(ref: LeaseRef): Promise<void> {
    const entry = this.table.get(agentKey(ref.namespace, ref.agentId));
    if (entry?.leaseId === ref.leaseId && entry.state !== 'offline') return;
    const row = await this.store.find(ref.namespace, ref.agentId);
    if (row?.lease_id !== ref.leaseId || row.state === 'offline' || row.removed_at !== null)
      throw leaseError(ref, row);
    // The agent is faster than the news of it: what it declared is needed to word its offers.
    this.sync.take(row);
  }

  private async whyNotRenewed(ref: LeaseRef): Promise<ReachError> {
    return leaseError(ref, await this.store.find(ref.namespace, ref.agentId));
  }
}

/** Says why a lease does not hold. */
export function leaseError(ref: LeaseRef, row: AgentRow | undefined): ReachError {
  const extra = { agent_id: ref.agentId };
  if (row !== undefined && row.lease_id !== ref.leaseId)
    return new ReachError(
      'LEASE_SUPERSEDED',
      `agent ${ref.agentId} was registered anew at ${row.registered_at.toISOString()}; this lease is over. ` +
        'If no other process should use this agent_id, give each its own',
      extra,
    );
  const why =
    row === undefined
      ? 'is not registered'
      : row.removed_at !== null
        ? 'was removed'
        : `lost its lease: the last heartbeat came at ${row.last_heartbeat_at.toISOString()}`;
  return new ReachError('LEASE_EXPIRED', `agent ${ref.agentId} ${why}; register again`, extra);
}

export function agentNotFound(namespace: string, agentId: string): ReachError {
  return new ReachError('NOT_FOUND', `there is no agent ${agentId} in namespace ${namespace}`, {
    agent_id: agentId,
  });
}
