import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';

const setAlias = (api: Api, alias: string, capability: string) =>
  api.call('PUT', `/api/v1/aliases/${alias}`, { namespace: api.namespace, capability });

inBothModes('the catalogue of capabilities', (mode) => {
  const centre = Centre.ofSuite(mode);

  /** Every replica lists the capability, by this name alone, with so many agents. */
  const listed = (api: Api, capability: string, agents: number) =>
    until(`${capability} is offered by ${agents}`, async () => {
      const lists = await Promise.all(api.each().map((one) => one.get('capabilities')));
      return lists.every(({ body }) => {
        const items = body.items as Json[];
        return items.length === 1 && items[0].capability === capability && items[0].agents === agents;
      });
    });

  test('by whichever name a task asks, and whichever an agent declared, they meet', async () => {
    const api = centre.api();
    const old = await api.agent('old', { capabilities: ['summarize'] });
    const asked = await api.submit({ capability: 'summarize', payload: 1 });
    expect((await old.work()).task_id).toBe(asked);
    expect((await setAlias(api, 'summarize', 'document.summarize')).status).toBe(200);
    await listed(api, 'document.summarize', 1);

    // An agent that was there before, and knows its capability by the old name.
    const first = await api.submit({ capability: 'document.summarize', payload: 2 });
    expect(await old.work()).toMatchObject({ task_id: first, capability: 'summarize' });
    await old.deregister(0);

    const fresh = await api.agent('fresh', {
      capabilities: [{ name: 'document.summarize', version: '2.1.0', input_schema: { type: 'object' } }],
    });
    await listed(api, 'document.summarize', 1);
    const second = await api.submit({ capability: 'summarize@^2', payload: 3 });
    expect(await fresh.work()).toMatchObject({ task_id: second, capability: 'document.summarize' });
    expect(await api.task(second)).toMatchObject({ capability: 'document.summarize', asked: 'summarize' });
    expect(await api.task(first)).not.toHaveProperty('asked');

    const shown = (await api.get('capabilities/summarize')).body;
    expect(shown).toMatchObject({
      capability: 'document.summarize',
      aliases: ['summarize'],
      versions: [{ version: '2.1.0', agents: ['fresh'], input_schema: { type: 'object' } }],
    });
  });

  test('what waits under a name when that becomes an alias goes on under the capability', async () => {
    const api = centre.api();
    await api.post('capabilities/summarise/pause', { reason: 'spelt wrong' });
    const waiting = await api.submit({ capability: 'summarise', payload: 'now' });
    const delayed = await api.submit({ capability: 'summarise', payload: 'later', delay_ms: 1000 });
    expect((await setAlias(api, 'summarise', 'summarize')).status).toBe(200);
    const agent = await api.agent('a', { capabilities: ['summarize'] });
    expect(await agent.work()).toMatchObject({ task_id: waiting, capability: 'summarize' });
    expect(await agent.work()).toMatchObject({ task_id: delayed, capability: 'summarize' });
    expect(await api.task(waiting)).toMatchObject({ capability: 'summarize', asked: 'summarise' });
    // What was paused under the old name can be resumed by it.
    await api.post('capabilities/summarise/resume', {});
    await listed(api, 'summarize', 1);
  });

  test('two aliases that would make a circle or a chain: one of them is refused', async () => {
    const api = centre.api();
    for (const [target, name] of [
      ['a', 'circle'],
      ['c', 'chain'],
    ] as const)
      for (let i = 0; i < 10; i++) {
        const of = (letter: string) => `${name}-${i}-${letter}`;
        const answers = await Promise.all([
          setAlias(api, of('a'), of('b')),
          setAlias(api, of('b'), of(target)),
        ]);
        expect(answers.map((a) => a.status).sort()).toEqual([200, 409]);
      }
  });

  test('policies are read, written and removed by any name of a capability', async () => {
    const api = centre.api().at(centre.dispatcher(0).url);
    const path = (name: string) => `/api/v1/policies/${name}`;
    const query = `?namespace=${api.namespace}`;
    const put = (name: string, max_attempts: number) =>
      api.call('PUT', path(name), { namespace: api.namespace, settings: { max_attempts } });
    await put('old', 2);
    await setAlias(api, 'old', 'new');
    expect((await put('old', 3)).body).toMatchObject({ capability: 'new', version: 1 });
    const read = (await api.get('policies/old')).body;
    expect(read).toMatchObject({ capability: 'new', settings: { max_attempts: 3 } });
    const task = await api.submit({ capability: 'old' });
    expect((await api.task(task)).max_attempts).toBe(3);
    const removed = async (name: string) => (await api.call('DELETE', path(name) + query)).body.capability;
    expect([await removed('old'), await removed('old')]).toEqual(['old', 'new']);
    expect((await setAlias(api, '*', 'new')).body.errors).toMatchObject([{ pointer: '/alias' }]);
  });

  test('a capability may be called as any part of a path is', async () => {
    const api = centre.api();
    await api.agent('a', { capabilities: ['aliases'] });
    await listed(api, 'aliases', 1);
    expect((await api.get('capabilities/aliases')).body).toMatchObject({ capability: 'aliases', agents: 1 });
  });

  test('an alias leads to a capability in one step, and can be forgotten', async () => {
    const api = centre.api();
    expect((await setAlias(api, 'a', 'b')).body).toMatchObject({ alias: 'a', capability: 'b' });
    expect((await setAlias(api, 'a', 'a')).body.errors).toMatchObject([{ pointer: '/capability' }]);
    for (const [alias, capability] of [
      ['x', 'a'],
      ['b', 'c'],
    ] as const)
      // prettier-ignore
      expect((await setAlias(api, alias, capability)).body.code).toBe('REACH_STATE_CONFLICT');
    expect((await setAlias(api, 'a', 'c')).body.capability).toBe('c');
    const page = (await api.get('aliases')).body;
    expect(page.items).toMatchObject([{ alias: 'a', capability: 'c' }]);
    const path = `/api/v1/aliases/a?namespace=${api.namespace}`;
    expect((await api.call('DELETE', path)).status).toBe(200);
    expect((await api.call('DELETE', path)).status).toBe(404);
  });

  test('a name that looks mistyped is warned of, a new one is not', async () => {
    const api = centre.api().at(centre.dispatcher(0).url);
    const register = async (id: string, ...capabilities: string[]) => {
      const agent = { agent_id: id, capabilities, heartbeat_interval_ms: 60_000 };
      return (await api.post('agent/register', agent)).body.warnings as string[];
    };
    expect(await register('a', 'summarize')).toEqual([]);
    expect(await register('b', 'summarize')).toEqual([]);
    expect(await register('c', 'sumarize', 'translate')).toEqual([
      '`sumarize` looks like `summarize`, offered by 2 agents',
    ]);
    expect(await register('c', 'translates')).toEqual([]);
  });
});
