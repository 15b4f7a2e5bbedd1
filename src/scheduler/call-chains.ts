import { Injectable } from '@nestjs/common';
import { DEEPEST_CHAIN, MOST_PER_AGENT, spentIn } from '../core/call-chain.js';
import { FILTER_NAMES, rejectionOf } from '../core/eligibility.js';
import { ReachError } from '../core/errors.js';
import type { Requirement } from '../core/lane.js';
import { BatchWriter } from '../platform/postgres/batch-writer.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { ReachTable } from '../registry/reach-table.js';
import type { TaskBody } from './tasks.wire.js';

const CHAINS = loadSql(import.meta.url, 'sql/chains.sql');
const CHAIN_FILTER = FILTER_NAMES.indexOf('call_chain');

type Parent = { namespace: string; id: string };

/** Who handles the ancestors of a task that is submitted: an agent that calls itself, by whatever detour, comes to an end. */
@Injectable()
export class CallChains {
  /** Many calls, one statement: a read, made as the writers are. */
  private readonly reader: BatchWriter<Parent, readonly string[]>;

  constructor(
    sql: Sql,
    private readonly table: ReachTable,
  ) {
    this.reader = new BatchWriter({
      name: 'chains',
      maxBatch: 400,
      maxQueue: 20_000,
      write: async (parents) => {
        const params = [parents.map((p) => p.id), parents.map((p) => p.namespace)];
        const { rows } = await sql.run<{ ord: number; chain: string[] | null; agent_id: string | null }>(
          'chains',
          CHAINS,
          params,
        );
        const chains = parents.map((): readonly string[] => []);
        for (const { ord, chain, agent_id: agent } of rows)
          chains[ord - 1] = [...(chain ?? []), ...(agent === null ? [] : [agent])];
        return chains;
      },
    });
  }

  /** The agents that handle the parent of a task and the parents of that, the oldest first; null: it has no parent. */
  async of({ namespace, parent_task_id: id }: TaskBody): Promise<readonly string[] | null> {
    return id === undefined ? null : this.reader.write({ namespace, id });
  }

  /**
   * The requirement of a task at the end of a chain: without those who stand in it too often.
   * @throws ReachError CALL_CYCLE where there is nobody else
   */
  bound(requirement: Requirement, chain: readonly string[] | null): Requirement {
    if (chain === null) return requirement;
    if (chain.length >= DEEPEST_CHAIN)
      throw cycle(
        `this task would be number ${chain.length + 1} of its chain of calls, ${DEEPEST_CHAIN} is the most`,
      );
    const spent = spentIn(chain);
    if (spent.length === 0) return requirement;
    const bounded = { ...requirement, spent };
    let refused: string | undefined;
    for (const candidate of this.table.candidates(requirement)) {
      const filter = rejectionOf(candidate, bounded)?.filter;
      if (filter === 'call_chain') refused = candidate.agentId;
      else if (filter === undefined || FILTER_NAMES.indexOf(filter) > CHAIN_FILTER) return bounded;
    }
    if (refused === undefined) return bounded;
    throw cycle(
      `${refused} handles ${MOST_PER_AGENT} tasks of this chain of calls already, and nobody else could take this one`,
      refused,
    );
  }
}

function cycle(why: string, agentId?: string): ReachError {
  const detail = `${why}; find out why the agents call each other in a circle (parent_task_id leads back)`;
  return new ReachError('CALL_CYCLE', detail, agentId === undefined ? {} : { agent_id: agentId });
}
