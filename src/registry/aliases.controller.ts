import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { EVERY_CAPABILITY } from '../core/policy.js';
import { ReachError } from '../core/errors.js';
import { Answers, Fails } from '../platform/http/describe.js';
import { decodeCursor, toPage } from '../platform/http/pagination.js';
import { Principal } from '../platform/http/principal.js';
import { capabilityName } from '../platform/wire/primitives.js';
import { namespaceQuery } from './agents.wire.js';
import { aliasBody, aliasesPage, aliasesQuery, aliasView } from './capabilities.wire.js';
import type { AliasRow } from './aliases.js';
import { CatalogueStore } from './catalogue.store.js';
import { ReachSync } from './reach-sync.js';

@ApiTags('capabilities')
@Controller('aliases')
export class AliasesController {
  constructor(
    private readonly store: CatalogueStore,
    private readonly sync: ReachSync,
  ) {}

  @Get()
  @Answers(200, aliasesPage, 'Other names of capabilities')
  @Fails('VALIDATION_FAILED')
  async list(@Query({ schema: aliasesQuery }) q: z.output<typeof aliasesQuery>) {
    const after = q.cursor === undefined ? null : decodeCursor(q.cursor, z.tuple([z.string()]))[0];
    const rows = await this.store.page(q.namespace, after, q.limit + 1);
    return toPage(rows, q.limit, toView, (row) => [row.alias]);
  }

  @Put(':alias')
  @Answers(200, aliasView, 'Take a name as another one from now on, of tasks and of agents')
  @Fails('VALIDATION_FAILED', 'STATE_CONFLICT')
  async write(
    @Param('alias', { schema: capabilityName }) alias: string,
    @Body({ schema: aliasBody }) { namespace, capability }: z.output<typeof aliasBody>,
    @Principal() by: string,
  ) {
    if (alias === capability) throw invalid('capability', 'is the alias itself');
    if (alias === EVERY_CAPABILITY)
      throw invalid('alias', `"${EVERY_CAPABILITY}" stands for every capability of the namespace`);
    const row = await this.store.write(namespace, alias, capability, by);
    if (row === undefined)
      throw new ReachError(
        'STATE_CONFLICT',
        `an alias leads to a capability in one step: ${capability} is an alias itself, or other aliases lead to ${alias}`,
      );
    await this.sync.spreadSwitches();
    return toView(row);
  }

  @Delete(':alias')
  @Answers(200, aliasView, 'Forget an alias; tasks that were taken by it keep the capability')
  @Fails('NOT_FOUND')
  async remove(
    @Param('alias', { schema: capabilityName }) alias: string,
    @Query({ schema: namespaceQuery }) { namespace }: z.output<typeof namespaceQuery>,
  ) {
    const row = await this.store.remove(namespace, alias);
    if (row === undefined)
      throw new ReachError('NOT_FOUND', `${alias} is no alias in namespace ${namespace}`);
    await this.sync.spreadSwitches();
    return toView(row);
  }
}

function invalid(field: 'alias' | 'capability', detail: string): ReachError {
  return new ReachError('VALIDATION_FAILED', `${field}: ${detail}`, {
    errors: [{ pointer: `/${field}`, detail }],
  });
}

function toView(row: AliasRow): z.input<typeof aliasView> {
  return { ...row, changed_at: row.changed_at.toISOString() };
}
