import { Injectable } from '@nestjs/common';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import type { DeclaredCapability } from './agent-row.js';
import type { AliasRow } from './aliases.js';

const ALIASES = loadSql(import.meta.url, 'sql/aliases.sql');
const ALIASES_PAGE = loadSql(import.meta.url, 'sql/aliases_page.sql');
const ALIAS_WRITE = loadSql(import.meta.url, 'sql/alias_write.sql');
const ALIAS_REMOVE = loadSql(import.meta.url, 'sql/alias_remove.sql');
const DECLARATIONS = loadSql(import.meta.url, 'sql/declarations.sql');

/** Every statement on aliases, and on what agents declare of a capability. */
@Injectable()
export class CatalogueStore {
  constructor(private readonly sql: Sql) {}

  async aliases(): Promise<AliasRow[]> {
    return (await this.sql.run<AliasRow>('aliases', ALIASES)).rows;
  }

  /** By alias. */
  async page(namespace: string, after: string | null, limit: number): Promise<AliasRow[]> {
    return (await this.sql.run<AliasRow>('aliases_page', ALIASES_PAGE, [namespace, after, limit])).rows;
  }

  /** Undefined: `capability` is an alias itself, or others have `alias` as their target. */
  async write(
    namespace: string,
    alias: string,
    capability: string,
    by: string,
  ): Promise<AliasRow | undefined> {
    const params = [namespace, alias, capability, by];
    return this.sql.transaction(async (tx) => {
      // Of two that together make a chain or a circle, neither would see the other.
      await tx.exec('LOCK TABLE capability_aliases IN SHARE ROW EXCLUSIVE MODE');
      return (await tx.run<AliasRow>('alias_write', ALIAS_WRITE, params)).rows[0];
    });
  }

  async remove(namespace: string, alias: string): Promise<AliasRow | undefined> {
    return (await this.sql.run<AliasRow>('alias_remove', ALIAS_REMOVE, [namespace, alias])).rows[0];
  }

  /** What agents declare under these names, the one that registered last first; some of them. */
  async declarations(
    namespace: string,
    names: readonly string[],
    limit: number,
  ): Promise<{ agent_id: string; capability: DeclaredCapability }[]> {
    const params = [namespace, names, limit];
    const { rows } = await this.sql.run<{ agent_id: string; capability: DeclaredCapability }>(
      'declarations',
      DECLARATIONS,
      params,
    );
    return rows;
  }
}
