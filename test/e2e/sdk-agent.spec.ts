import { Agent, type Handler, TaskFailed } from '@agent-reach/sdk';
import type { Api, Json } from '../support/api.js';
import { Centre } from '../support/centre.js';

const LIMIT = 262_144;
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

describe.each(['session', 'pull'] as const)('an agent of the SDK over %s', (transport) => {
  const centre = Centre.ofSuite('embedded', { env: { REACH_BATCH_BODY_LIMIT_BYTES: '2000000' } });
  let api: Api;
  let agent: Agent | undefined;

  beforeEach(() => {
    api = centre.api();
  });
  afterEach(() => agent?.stop({ drainMs: 0 }));

  /** How a task ends whose handler this is. */
  const outcome = async (work: Handler): Promise<Json> => {
    agent = new Agent({
      url: centre.urls,
      namespace: api.namespace,
      agentId: 'a1',
      transport,
      capabilities: { work },
    });
    await agent.start();
    // Longer than the test waits: an end by the deadline is none.
    return api.ended(
      await api.submit({ capability: 'work', idempotent: true, execution_timeout_ms: 600_000 }),
    );
  };

  test.each<[string, Handler, RegExp]>([
    ['outputs over the limit', () => 'x'.repeat(LIMIT), /outputs has 262146 bytes, the limit is 262144/],
    ['outputs over the limit of a whole call', () => 'x'.repeat(3_000_000), /PAYLOAD_TOO_LARGE/],
    ['meta over the limit', (_task, ctx) => void (ctx.meta['x'] = 'x'.repeat(LIMIT)), /meta has/],
  ])('%s: the task fails at once, with the reason', async (_what, handler, why) => {
    const task = await outcome(handler);
    expect(task).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { code: 'REACH_PAYLOAD_TOO_LARGE', message: expect.stringMatching(why) },
    });
    expect(await api.attributions(task.task_id as string)).toMatchObject([
      { code: 'REACH_PAYLOAD_TOO_LARGE', blame: 'agent', stage: 'execution' },
    ]);
  });

  test('outputs of a form that is refused: likewise', async () => {
    const task = await outcome(() => nested(100));
    expect(task).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'REACH_AGENT_ERROR' } });
    expect(task.error.message).toMatch(/refused the result: REACH_VALIDATION_FAILED/);
  });

  test.each<[string, { raw: unknown; dependency?: string }]>([
    ['too large', { raw: 'x'.repeat(3_000_000) }],
    ['of a form that is refused', { raw: nested(100), dependency: 'd'.repeat(300) }],
  ])('a failure with evidence %s is reported without it', async (_what, more) => {
    const task = await outcome(() => {
      throw new TaskFailed({ code: 'E42', message: 'it broke', retryable: false, ...more });
    });
    expect(task).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'REACH_AGENT_ERROR' } });
    expect(task.error.message).toMatch(/E42.*it broke/);
  });
});
