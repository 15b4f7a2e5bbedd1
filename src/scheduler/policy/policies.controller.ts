import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Answers, Fails } from '../../platform/http/describe.js';
import { decodeCursor, toPage } from '../../platform/http/pagination.js';
import { Principal } from '../../platform/http/principal.js';
import { namespaceQuery } from '../../registry/agents.wire.js';
import { Aliases } from '../../registry/aliases.js';
import { Policies } from './policies.js';
import { type PolicyRow, PolicyStore } from './policy.store.js';
import {
  effectivePolicy,
  policiesPage,
  policiesQuery,
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
    private readonly aliases: Aliases,
  ) {}

  @Get()
  @Answers(200, policiesPage, 'The policies of a namespace, by capability')
  @Fails('VALIDATION_FAILED')
  async list(@Query({ schema: policiesQuery }) q: z.output<typeof policiesQuery>) {
    const after = q.cursor === undefined ? null : decodeCursor(q.cursor, z.tuple([z.string()]))[0];
    const rows = await this.store.page(q.namespace, after, q.limit + 1);
    return toPage(rows, q.limit, toView, (row) => [row.capability]);
  }

  @Get(':capability')
  @Answers(200, effectivePolicy, 'What holds for a capability, and the last versions of its policy')
  async read(
    @Param('capability', { schema: policyCapability }) asked: string,
    @Query({ schema: namespaceQuery }) { namespace }: z.output<typeof namespaceQuery>,
  ) {
    const capability = this.aliases.resolve(namespace, asked);
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
    const meant = this.aliases.resolve(namespace, capability);
    return toView(await this.policies.write(namespace, meant, settings, by, expected));
  }

  @Delete(':capability')
  @Answers(200, policyVersion, 'Remove the policy of a capability: that of the namespace holds again')
  @Fails('NOT_FOUND', 'STATE_CONFLICT')
  async remove(
    @Param('capability', { schema: policyCapability }) capability: string,
    @Query({ schema: policyRemovalQuery }) query: z.output<typeof policyRemovalQuery>,
    @Principal() by: string,
  ) {
    const { namespace, if_version: expected } = query;
    // One that was written before its name became an alias stands under that, and can be removed by it alone.
    const own = this.policies.of(namespace, capability).version > 0;
    const meant = own ? capability : this.aliases.resolve(namespace, capability);
    return toView(await this.policies.write(namespace, meant, null, by, expected));
  }
}

function toView(row: PolicyRow): z.input<typeof policyVersion> {
  return { ...row, changed_at: row.changed_at.toISOString() };
}
