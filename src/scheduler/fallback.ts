import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { explainShortage, type Shortage } from '../core/eligibility.js';
import { laneLabel, type Requirement, requirementOf } from '../core/lane.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { Aliases } from '../registry/aliases.js';
import { ReachTable } from '../registry/reach-table.js';
import { Switches } from '../registry/switches.js';
import { Moves } from './moves.js';
import { Policies } from './policy/policies.js';
import type { FullPolicySettings } from './policy/policy.wire.js';
import { SweepStore } from './sweep.store.js';
import { UnplaceableTasks } from './unplaceable.js';

/** Agents that are named in the reason. */
const NAMED = 3;

/**
 * Tasks whose capability nobody can be reached for go to one that their policy names as its equivalent: after a while, once,
 * and marked. Where there is none either, they wait, or fail if their policy says so. Each replica looks; the update of a
 * task's row decides who moves it.
 */
@Injectable()
export class Fallback implements OnApplicationBootstrap {
  private readonly log = new Logger(Fallback.name);
  private readonly ticker: Ticker;
  /** Since when nobody could be reached, by lane, in ms of the monotonic clock. */
  private unreachable = new Map<string, number>();

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly store: SweepStore,
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly aliases: Aliases,
    private readonly policies: Policies,
    private readonly moves: Moves,
    private readonly unplaceable: UnplaceableTasks,
    shutdown: Shutdown,
  ) {
    this.ticker = new Ticker('fallback', config.sweepIntervalMs, () => this.sweep());
    shutdown.on('intake', 'fallback', () => this.ticker.stop());
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  private async sweep(): Promise<void> {
    const before = this.unreachable;
    this.unreachable = new Map();
    const concerns = (s: FullPolicySettings) => s.fallback.length > 0 || s.when_unreachable === 'fail';
    if (!this.policies.some(concerns)) return;
    for (const lane of await this.store.backlog()) await this.look(lane, before.get(lane));
  }

  private async look(lane: string, since = performance.now()): Promise<void> {
    const requirement = requirementOf(lane);
    const { settings } = this.policies.for(requirement);
    const { fallback_after_ms: waitedMs } = settings;
    const fails = settings.when_unreachable === 'fail';
    if (!fails && settings.fallback.length === 0) return;
    if (this.switches.blocking(requirement) !== undefined) return;
    // They are about to go on under another name.
    if (this.aliases.among(requirement)) return;
    const shortage = this.shortageOf(requirement);
    if (shortage.kind === 'busy') return;
    this.unreachable.set(lane, since);
    if (performance.now() - since < waitedMs) return;
    const equivalent = this.equivalentTo(requirement, settings.fallback);
    if (equivalent !== undefined) await this.divert(lane, requirement, equivalent, settings, shortage);
    const divertedOnly = equivalent !== undefined;
    if (fails)
      await this.unplaceable.fail({ lane, waitedMs, shortage, divertedOnly, told: settings.on_degrade });
  }

  /** The first of these that somebody can be reached for. */
  private equivalentTo(requirement: Requirement, fallback: readonly string[]): Requirement | undefined {
    const { capabilities, namespace } = requirement;
    // An address is meant, and several capabilities at once have no equivalent.
    if (capabilities.length !== 1 || requirement.agentId !== undefined || requirement.name !== undefined)
      return undefined;
    return fallback
      .map((name) => equivalentOf(requirement, this.aliases.resolve(namespace, name)))
      .find((other) => this.switches.blocking(other) === undefined && this.shortageOf(other).kind === 'busy');
  }

  /** `busy` where somebody could take it, now or when a slot is free. */
  private shortageOf(requirement: Requirement): Shortage {
    const { panic } = this.policies.for(requirement).policy;
    return explainShortage(this.table.candidates(requirement), requirement, panic, NAMED);
  }

  private async divert(
    lane: string,
    from: Requirement,
    to: Requirement,
    { fallback_after_ms: afterMs, on_degrade: told }: FullPolicySettings,
    shortage: Shortage,
  ): Promise<void> {
    const label = laneLabel(to);
    const note = { from: laneLabel(from), to: label, reason: reasonOf(from, shortage), lane };
    const moved = await this.moves.move(lane, to, { note, afterMs, told });
    if (moved === 0) return;
    this.log.warn({ msg: `${moved} tasks go to ${label}: ${note.reason}`, namespace: from.namespace, moved });
  }
}

/** The same wish for another capability. Its versions are its own. */
function equivalentOf({ version: _, ...rest }: Requirement, name: string): Requirement {
  return { ...rest, capabilities: [{ name }] };
}

function reasonOf(from: Requirement, { kind, rejections }: Shortage): string {
  const label = laneLabel(from);
  if (rejections.length === 0) return `no registered agent offers ${label}`;
  const named = rejections.map((r) => `${r.agentId}: ${r.reason}`).join('; ');
  return `no agent ${kind === 'no_capable' ? 'fits' : 'could be reached for'} ${label} (${named})`;
}
