import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { isUsable } from '../core/eligibility.js';
import { Answers } from '../platform/http/describe.js';
import { capabilityName } from '../platform/wire/primitives.js';
import { capabilitiesAnswer, capabilityView, namespaceQuery, switchBody } from './agents.wire.js';
import { ReachSync } from './reach-sync.js';
import { ReachTable } from './reach-table.js';
import { RegistryStore } from './registry.store.js';
import { Switches } from './switches.js';

type SwitchBody = z.output<typeof switchBody>;

@ApiTags('capabilities')
@Controller('capabilities')
export class CapabilitiesController {
  constructor(
    private readonly table: ReachTable,
    private readonly switches: Switches,
    private readonly store: RegistryStore,
    private readonly sync: ReachSync,
  ) {}

  @Get()
  @Answers(200, capabilitiesAnswer, 'Who offers what, and what is paused')
  list(@Query({ schema: namespaceQuery }) query: z.output<typeof namespaceQuery>) {
    const names = new Set<string>();
    for (const entry of this.table.all())
      if (entry.namespace === query.namespace) for (const name of entry.capabilities.keys()) names.add(name);
    for (const name of this.switches.pausedIn(query.namespace)) names.add(name);
    return { items: [...names].sort().map((name) => this.view(query.namespace, name)) };
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
    await this.store.setSwitch(body.namespace, capability, paused, body.reason);
    await this.sync.spreadSwitches();
    return this.view(body.namespace, capability);
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
