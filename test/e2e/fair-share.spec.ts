import { Agent, Client } from '@agent-reach/sdk';
import { Centre } from '../support/centre.js';
import { until } from '../support/until.js';

const TOKENS = ['token-of-the-flood', 'token-of-the-other', 'token-of-the-agent'] as const;
const SLOTS = 8;
const FLOOD = 5000;

describe('callers of a capability', () => {
  const centre = Centre.ofSuite('embedded', { env: { REACH_AUTH_TOKENS: TOKENS.join() } });

  test('take turns: with a flood of 5 000 by one, each task of the other is passed by one of them', async () => {
    const url = centre.urls[0] as string;
    const clientOf = (token: string) => new Client({ url, namespace: 'fair', token });
    const [flood, other] = [clientOf(TOKENS[0]), clientOf(TOKENS[1])];
    for (let i = 0; i < FLOOD; i += 1000) {
      const tasks = Array.from({ length: 1000 }, () => ({ capability: 'work', payload: 'flood' }));
      expect((await flood.enqueueBatch(tasks)).accepted).toBe(1000);
    }
    const begun: unknown[] = [];
    const agent = new Agent({
      url,
      namespace: 'fair',
      agentId: 'a1',
      token: TOKENS[2],
      maxConcurrency: SLOTS,
      capabilities: { work: ({ payload }: { payload: unknown }) => void begun.push(payload) },
    });
    await agent.start();
    try {
      await until('some of the flood is done', () => Promise.resolve(begun.length > 200));
      const tasks = Array.from({ length: 50 }, () => ({ capability: 'work', payload: 'other' }));
      await other.enqueueBatch(tasks);
      const before = begun.length;
      const others = () => begun.filter((payload) => payload === 'other').length;
      await until('the other is served', () => Promise.resolve(others() === 50), 60_000);
      expect(begun.length).toBeLessThan(FLOOD);
      const passed = begun.slice(before, begun.lastIndexOf('other')).filter((p) => p === 'flood').length;
      // One for each, and what the agent held already.
      expect(passed).toBeLessThanOrEqual(50 + 2 * SLOTS);
    } finally {
      await agent.stop({ drainMs: 0 });
    }
  });
});
