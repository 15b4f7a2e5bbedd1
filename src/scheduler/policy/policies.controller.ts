import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { Answers, Fails } from '../../platform/http/describe.js';
import { Principal } from '../../platform/http/principal.js';
import { namespaceQuery } from '../../registry/agents.wire.js';
import { Policies } from './policies.js';
import { type PolicyRow, PolicyStore } from './policy.store.js';
import {
  effectivePolicy,
  policiesAnswer,
  policyBody,
  policyCapability,
  policyRemovalQuery,
  policyVersion,
} from './policy.wire.js';

@ApiTags('policies')
@Controller('policies')
export class PoliciesController {
  constructor(
    private readonly policies: Policies,
    private readonly store: PolicyStore,
  ) {}

  @Get()
  @Answers(200, policiesAnswer, 'The policies of a namespace')
  async list(@Query({ schema: namespaceQuery }) { namespace }: z.output<typeof namespaceQuery>) {
    const rows = await this.store.current(namespace);
    return { items: rows.filter((row) => row.settings !== null).map(toView) };
  }

  @Get(':capability')
  @Answers(200, effectivePolicy, 'What holds for a capability, and the last versions of its policy')
  async read(
    @Param('capability', { schema: policyCapability }) capability: string,
    @Query({ schema: namespaceQuery }) { namespace }: z.output<typeof namespaceQuery>,
  ) {
    const { settings, version, namespaceVersion } = this.policies.of(namespace, capability);
    const versions = (await this.store.versions(namespace, capability)).map(toView);
    return { namespace, capability, settings, version, namespace_version: namespaceVersion, versions };
  }

  @Put(':capability')
  @Answers(200, policyVersion, 'Replace the policy of a capability; it holds from the next choice on')
  @Fails('VALIDATION_FAILED', 'STATE_CONFLICT')
  async write(
    @Param('capability', { schema: policyCapability }) capability: string,
    @Body({ schema: policyBody }) body: z.output<typeof policyBody>,
    @Principal() by: string,
  ) {
    const { namespace, settings, if_version: expected } = body;
    return toView(await this.policies.write(namespace, capability, settings, by, expected));
  }

  @Delete(':capability')
  @Answers(200, policyVersion, 'Remove the policy of a capability: that of the namespace holds again')
  @Fails('NOT_FOUND', 'STATE_CONFLICT')
  async remove(
    @Param('capability', { schema: policyCapability }) capability: string,
    @Query({ schema: policyRemovalQuery }) query: z.output<typeof policyRemovalQuery>,
    @Principal() by: string,
  ) {
    return toView(await this.policies.write(query.namespace, capability, null, by, query.if_version));
  }
}

function toView(row: PolicyRow): z.input<typeof policyVersion> {
  return { ...row, changed_at: row.changed_at.toISOString() };
}
