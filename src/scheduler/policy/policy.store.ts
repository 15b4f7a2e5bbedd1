import { Injectable } from '@nestjs/common';
import type { Policy } from '../../core/policy.js';
import { loadSql } from '../../platform/postgres/sql-file.js';
import { Sql } from '../../platform/postgres/sql.js';
import type { PolicySettings } from './policy.wire.js';

const POLICIES = loadSql(import.meta.url, 'sql/policies.sql');
const POLICIES_PAGE = loadSql(import.meta.url, 'sql/policies_page.sql');
const POLICY_VERSIONS = loadSql(import.meta.url, 'sql/policy_versions.sql');
const FOLLOW = loadSql(import.meta.url, 'sql/follow.sql');
const POLICY_WRITE = loadSql(import.meta.url, 'sql/policy_write.sql');

/** Versions that are shown of one policy. */
const SHOWN = 20;

export interface PolicyRow {
  namespace: string;
  capability: string;
  version: number;
  /** null: it was removed */
  settings: PolicySettings | null;
  changed_by: string;
  changed_at: Date;
}

/** Every statement on policies. */
@Injectable()
export class PolicyStore {
  constructor(private readonly sql: Sql) {}

  /** What holds: of a namespace, or of all; of one capability, or of all. Removed ones are among them. */
  async current(namespace?: string, capability?: string): Promise<PolicyRow[]> {
    const params = [namespace ?? null, capability ?? null];
    return (await this.sql.run<PolicyRow>('policies', POLICIES, params)).rows;
  }

  /** Those of a namespace that hold, by capability. @param after the capability after which to go on */
  async page(namespace: string, after: string | null, limit: number): Promise<PolicyRow[]> {
    return (await this.sql.run<PolicyRow>('policies_page', POLICIES_PAGE, [namespace, after, limit])).rows;
  }

  /** The last versions, newest first. */
  async versions(namespace: string, capability: string): Promise<PolicyRow[]> {
    return (await this.sql.run<PolicyRow>('policy_versions', POLICY_VERSIONS, [namespace, capability, SHOWN]))
      .rows;
  }

  /** Undefined: another version than `expected` holds, or somebody else was faster. */
  async write(
    namespace: string,
    capability: string,
    settings: PolicySettings | null,
    by: string,
    expected: number | undefined,
  ): Promise<PolicyRow | undefined> {
    const params = [namespace, capability, settings && JSON.stringify(settings), by, expected ?? null];
    return (await this.sql.run<PolicyRow>('policy_write', POLICY_WRITE, params)).rows[0];
  }

  /** Keeps policies under their digests, for those who ask later how a decision came about. */
  async follow(policies: ReadonlyMap<string, Policy>): Promise<void> {
    const texts = [...policies.values()].map((policy) => JSON.stringify(policy));
    await this.sql.run('follow', FOLLOW, [[...policies.keys()], texts]);
  }
}
