import { Injectable } from '@nestjs/common';
import { ReachTable } from '../../registry/reach-table.js';
import type { OfferedTask } from '../placement.store.js';
import { TaskTokens } from '../tokens/task-tokens.js';
import { endOf, offerJson } from './offered.js';

/** Makes the texts that agents receive of offers, each with the token of its delivery. */
@Injectable()
export class OfferWriter {
  constructor(
    private readonly table: ReachTable,
    private readonly tokens: TaskTokens,
  ) {}

  /** In order. */
  async write(agentKey: string, offers: readonly OfferedTask[]): Promise<string[]> {
    const agent = this.table.get(agentKey);
    // Most agents have no dependencies: then nothing is to be waited for.
    if (agent === undefined || agent.dependencies.length === 0) return offers.map((o) => offerJson(o));
    return Promise.all(
      offers.map(async (o) => {
        const { id: taskId, fence, capability } = o;
        return offerJson(o, await this.tokens.sign(agent, { taskId, fence, capability, endsAt: endOf(o) }));
      }),
    );
  }
}
