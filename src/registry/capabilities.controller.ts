import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { isUsable } from '../core/eligibility.js';
import { Answers } from '../platform/http/describe.js';
import { capabilityName } from '../platform/wire/primitives.js';
import type { DeclaredCapability } from './agent-row.js';
import { type CapabilityDeclaration, namespaceQuery } from './agents.wire.js';
import { Aliases } from './aliases.js';
import { capabilitiesAnswer, capabilityDetail, capabilityView, switchBody } from './capabilities.wire.js';
import { CatalogueStore } from './catalogue.store.js';
import { ReachSync } from './reach-sync.js';
import { ReachTable } from './reach-table.js';
import { RegistryStore } from './registry.store.js';
import { Switches } from './switches.js';

/** Agents whose declaration is looked at. */
const MOST_DECLARATIONS = 500;

type SwitchBody = z.output<typeof switchBody>;

@ApiTags('capabilities')
@Controller('capabilities')
export class CapabilitiesController {
  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly store: RegistryStore,
    private readonly sync: ReachSync,
    private readonly aliases: Aliases,
    private readonly catalogue: CatalogueStore,
  ) {}

  @Get()
  @Answers(200, capabilitiesAnswer, 'Who offers what, and what is paused')
  list(@Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>) {
    const names = new Set<string>();
    for (const [name] of this.table.offered(query.namespace))
      if (!this.aliases.isAlias(query.namespace, name)) names.add(name);
    for (const name of this.switches.pausedIn(query.namespace)) names.add(name);
    return { items: [...names].sort().map((name) => this.view(query.namespace, name)) };
  }

  @Get(':capability')
  @Answers(200, capabilityDetail, 'One capability by any of its names: versions, schemas, who offers it')
  async one(
    @Param('capability', { schema: capabilityName }) asked: string,
    @Query({ schema: namespaceQuery }) { namespace }: z.output<typeof namespaceQuery>,
  ) {
    const capability = this.aliases.resolve(namespace, asked);
    const aliases = this.aliases.of(namespace, capability);
    const rows = await this.catalogue.declarations(namespace, [capability, ...aliases], MOST_DECLARATIONS);
    return { ...this.view(namespace, capability), aliases, ...declared(rows) };
  }

  @Post(':capability/pause')
  @HttpCode(200)
  @Answers(200, capabilityView, 'Pause: tasks are taken and wait')
  pause(
    @Param('capability', { schema: capabilityName }) capability: string,
    @Body({ schema: switchBody }) body: SwitchBody,
  ) {
    return this.set(body, capability, true);
  }

  @Post(':capability/resume')
  @HttpCode(200)
  @Answers(200, capabilityView, 'Resume what was paused')
  resume(
    @Param('capability', { schema: capabilityName }) capability: string,
    @Body({ schema: switchBody }) body: SwitchBody,
  ) {
    return this.set(body, capability, false);
  }

  private async set(body: SwitchBody, capability: string, paused: boolean) {
    const meant = this.aliases.resolve(body.namespace, capability);
    await this.store.setSwitch(body.namespace, meant, paused, body.reason);
    // It may have been paused under this name before that became an alias.
    if (!paused && meant !== capability)
      await this.store.setSwitch(body.namespace, capability, false, body.reason);
    await this.sync.spreadSwitches();
    return this.view(body.namespace, meant);
  }

  private view(namespace: string, capability: string) {
    const requirement = { namespace, capabilities: [{ name: capability }] };
    const agents = [...this.table.candidates(requirement)];
    const reason = this.switches.reason(namespace, capability);
    return {
      namespace,
      capability,
      agents: agents.length,
      reachable: agents.filter((a) => isUsable(a, requirement)).length,
      paused: reason !== undefined,
      ...(reason !== undefined && reason !== '' && { pause_reason: reason }),
    };
  }
}

type Detail = z.input<typeof capabilityDetail>;

/** What agents declare, by version; the first row of a version speaks for it. */
function declared(
  rows: readonly { agent_id: string; capability: DeclaredCapability }[],
): Pick<Detail, 'versions' | 'equivalents'> {
  const versions = new Map<string, Detail['versions'][number]>();
  const equivalents = new Set<string>();
  for (const { agent_id: id, capability } of rows) {
    const { version, description, input_schema, output_schema, fallbacks } =
      capability as CapabilityDeclaration;
    for (const name of fallbacks ?? []) equivalents.add(name);
    const known = versions.get(version ?? '');
    if (known !== undefined) known.agents.push(id);
    else
      versions.set(version ?? '', {
        ...(version !== undefined && { version }),
        agents: [id],
        ...(description !== undefined && { description }),
        ...(input_schema !== undefined && { input_schema }),
        ...(output_schema !== undefined && { output_schema }),
      });
  }
  return { versions: [...versions.values()], equivalents: [...equivalents].sort() };
}
