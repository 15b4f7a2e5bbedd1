import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

const setPolicy = async (api: Api, capability: string, settings: object) => {
  const body = { namespace: api.namespace, settings };
  expect((await api.call('PUT', `/api/v1/policies/${capability}`, body)).status).toBe(200);
};
const isOnline = async (api: Api, ...ids: string[]) => {
  for (const one of api.each()) for (const id of ids) await one.agentIs(id, 'online');
};

inBothModes('fallback', (mode) => {
  const centre = Centre.ofSuite(mode);

  test('where nobody can be reached, a task goes to the first equivalent that somebody can be reached for', async () => {
    const api = centre.api();
    await setPolicy(api, 'summarize', { fallback: ['outline', 'shorten'], fallback_after_ms: 300 });
    const held = await api.agent('summarizer', { capabilities: ['summarize'], tags: ['fast'] });
    await api.agent('outliner', { capabilities: ['outline'], tags: ['slow'] });
    const shortener = await api.agent('shortener', { capabilities: ['shorten'], tags: ['fast'] });
    await isOnline(api, 'summarizer', 'shortener', 'outliner');
    // Somebody is there: it is busy, and that is no reason.
    const kept = await api.submit({ capability: 'summarize' });
    const waits = await api.submit({ capability: 'summarize', constraints: { tags: ['fast'] } });
    await held.begin();
    const path = `/api/v1/agents/summarizer/hold?namespace=${api.namespace}`;
    expect((await api.call('POST', path, { reason: 'new model' })).status).toBe(200);

    const fresh = await api.submit({ capability: 'summarize@^2', constraints: { tags: ['fast'] } });
    const offers = [await shortener.work(), await shortener.work()];
    expect(offers.map((o: Json) => o.task_id as string).sort()).toEqual([waits, fresh].sort());
    // The agent sees that it does in place of another, and why.
    for (const offer of offers) expect(offer.fallback_used).toMatchObject({ to: 'shorten' });
    const task = await api.ended(fresh);
    expect(task).toMatchObject({
      state: 'succeeded',
      capability: 'shorten',
      agent_id: 'shortener',
      fallback_used: { from: 'summarize', to: 'shorten', reason: expect.stringContaining('summarize') },
    });
    const story = (await api.get(`tasks/${waits}/explain`)).body;
    expect(JSON.stringify(story)).toMatch(
      /given to shorten in place of summarize: no agent could be reached[^"]*new model/,
    );
    expect(await api.task(kept)).not.toHaveProperty('fallback_used');
    expect((await api.get('tasks')).body.items[0]).toMatchObject({ fallback_used: { to: 'shorten' } });

    // Submitted anew it asks for what was asked for at first.
    expect(Object.keys(task.fallback_used).sort()).toEqual(['at', 'from', 'reason', 'to']);
    const retried = await api.call('POST', `/api/v1/tasks/${fresh}/retry?namespace=${api.namespace}`);
    const anew = retried.body.task_id as string;
    expect(anew).not.toBe(fresh);
    expect((await shortener.work()).task_id).toBe(anew);
    expect(await api.ended(anew)).toMatchObject({ fallback_used: { from: 'summarize' }, retry_of: fresh });
  });

  test('without a policy, with an address, or while it is paused, a task waits', async () => {
    const api = centre.api();
    await setPolicy(api, 'summarize', { fallback: ['shorten'], fallback_after_ms: 0 });
    const agent = await api.agent('shortener', { capabilities: ['shorten'], max_concurrency: 5 });
    await isOnline(api, 'shortener');
    const addressed = await api.submit({ capability: 'summarize', agent_id: 'nobody' });
    const others = await api.submit({ capability: 'translate' });
    await api.post('capabilities/summarize/pause', {});
    const paused = await api.submit({ capability: 'summarize' });
    const later = await api.submit({ capability: 'shorten' });
    expect((await agent.work()).task_id).toBe(later);
    for (const id of [addressed, others, paused]) expect((await api.task(id)).state).toBe('queued');
    await api.post('capabilities/summarize/resume', {});
    expect((await agent.work()).task_id).toBe(paused);
    await until('the others wait', async () => (await api.task(addressed)).state === 'queued');
    expect(await api.task(others)).not.toHaveProperty('fallback_used');
  });

  test('where the policy is not to wait, a task that nobody can be reached for fails, and says why', async () => {
    const api = centre.api();
    await setPolicy(api, 'summarize', { when_unreachable: 'fail', fallback_after_ms: 0 });
    await setPolicy(api, 'outline', { when_unreachable: 'fail', fallback_after_ms: 600_000 });
    const kept = await api.submit({ capability: 'translate' });
    const patient = await api.submit({ capability: 'outline' });
    const unknown = await api.submit({ capability: 'summarize' });
    expect(await api.ended(unknown)).toMatchObject({
      state: 'failed',
      attempt: 0,
      error: {
        code: 'REACH_NO_CAPABLE_AGENT',
        message: 'no registered agent offers summarize, and its policy is not to wait for one',
        retryable: true,
      },
    });

    const agent = await api.agent('summarizer', { capabilities: ['summarize'], max_concurrency: 1 });
    await isOnline(api, 'summarizer');
    const first = await api.submit({ capability: 'summarize' });
    await agent.begin();
    // Somebody is there, and has no room: that is waited for.
    const next = await api.submit({ capability: 'summarize' });
    const path = `/api/v1/agents/summarizer/hold?namespace=${api.namespace}`;
    expect((await api.call('POST', path, { reason: 'new model' })).status).toBe(200);
    expect(await api.ended(next)).toMatchObject({
      state: 'failed',
      error: {
        code: 'REACH_NO_REACHABLE_AGENT',
        message: expect.stringMatching(/^no agent with summarize was reachable .*new model/),
      },
    });
    const attributions = (await api.get(`tasks/${next}/explain`)).body;
    expect(JSON.stringify(attributions)).toContain('not to wait for one');
    expect((await api.task(first)).state).toBe('running');
    for (const id of [kept, patient]) expect((await api.task(id)).state).toBe('queued');
  });
});
