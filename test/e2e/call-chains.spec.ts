import type { Api } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import type { RawAgent } from '../support/raw-agent.js';

inBothModes('chains of calls', (mode) => {
  const centre = Centre.ofSuite(mode);

  /** The agent takes a task, makes another while it handles it, and so on: the last one's id. */
  async function descend(api: Api, agent: RawAgent, tasks: number): Promise<string> {
    let id = await api.submit({ capability: 'work' });
    for (let i = 1; i <= tasks; i++) {
      expect((await agent.begin()).task_id).toBe(id);
      if (i < tasks) id = await api.submit({ capability: 'work', parent_task_id: id });
    }
    return id;
  }

  test('an agent that calls itself is told at the sixth task, and other agents get it where there are any', async () => {
    const api = centre.api();
    const agent = await api.agent('a', { max_concurrency: 20 });
    const fifth = await descend(api, agent, 5);
    expect((await api.task(fifth)).chain).toEqual(['a', 'a', 'a', 'a']);

    const refused = await api.post('tasks', { capability: 'work', parent_task_id: fifth });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'REACH_CALL_CYCLE', agent_id: 'a', retryable: false });
    const batch = await api.post('tasks/batch', { tasks: [{ namespace: api.namespace, capability: 'work', parent_task_id: fifth }] }); // prettier-ignore
    expect(batch.body.results).toMatchObject([{ error: { code: 'REACH_CALL_CYCLE' } }]);
    const elsewhere = await api.post('tasks', { agent_id: 'a', parent_task_id: fifth });
    expect(elsewhere.body.code).toBe('REACH_CALL_CYCLE');

    const other = await api.agent('b', { max_concurrency: 20 });
    for (const one of api.each()) await one.agentIs('b', 'online');
    const sixth = await api.submit({ capability: 'work', parent_task_id: fifth });
    expect((await other.begin()).task_id).toBe(sixth);
    const { chain, deliveries } = await api.task(sixth);
    expect(chain).toEqual(['a', 'a', 'a', 'a', 'a']);
    expect(deliveries[0].decision.rejected).toEqual({
      counts: { call_chain: 1 },
      named: [{ agent_id: 'a', filter: 'call_chain', reason: expect.stringMatching(/^stands 5 times/) }],
    });
    // A task beside the chain is nobody's sixth.
    const beside = await api.post('tasks', { agent_id: 'a' });
    expect(beside.status).toBe(202);
  });

  test('a parent that is not there, or of another namespace, begins no chain', async () => {
    const [api, others] = [centre.api(), centre.api()];
    const agent = await others.agent('a', { max_concurrency: 20 });
    const fifth = await descend(others, agent, 5);
    await api.agent('a');
    const id = await api.submit({ capability: 'work', parent_task_id: fifth });
    expect((await api.task(id)).chain).toEqual([]);
  });
});
