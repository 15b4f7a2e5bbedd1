import { Client, type ScheduleRequest } from '@agent-reach/sdk';
import type { Api } from '../support/api.js';
import { Centre } from '../support/centre.js';

/*
 * Every method of the client against a real centre, in a namespace other than `default`. A call that leaves its
 * namespace out asks about `default`, where there is nothing of what this file makes.
 */

/** What is private in TypeScript is an ordinary name at run time. */
const PRIVATE = new Set(['constructor', 'poll', 'query', 'pages', 'inNamespace', 'switchCapability']);

const centre = Centre.ofSuite('embedded');
let api: Api;
let client: Client;
/** Of another namespace; its calls name the one they are about. */
let stranger: Client;

beforeEach(() => {
  api = centre.api();
  client = new Client({ url: centre.urls, namespace: api.namespace });
  stranger = new Client({ url: centre.urls });
});

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
/** A task that has failed, and so has attributions. */
const failed = async (): Promise<string> => {
  const agent = await api.agent(`failing-${Math.random()}`);
  const { task_id } = await client.enqueue({ capability: 'work' });
  await agent.fail((await agent.begin()).delivery_id, { message: 'no', retryable: false });
  await agent.deregister(0);
  return task_id;
};
const worked = async (task: Promise<unknown>): Promise<unknown> => {
  const agent = await api.agent('worker');
  await agent.work('done');
  return task;
};

const METHODS: Record<string, () => Promise<void>> = {
  enqueue: async () => {
    const { task_id } = await client.enqueue({ capability: 'work' });
    expect((await api.task(task_id)).namespace).toBe(api.namespace);
  },
  enqueueBatch: async () => {
    const { results } = await client.enqueueBatch([{ capability: 'work' }, { capability: 'work' }]);
    for (const r of results) {
      const { task_id } = r as { task_id: string };
      expect((await api.task(task_id)).namespace).toBe(api.namespace);
    }
  },
  get: async () => {
    const id = await api.submit({ capability: 'work' });
    expect(await client.get(id)).toMatchObject({ task_id: id, namespace: api.namespace });
    expect(await stranger.get(id, { namespace: api.namespace })).toMatchObject({ task_id: id });
    await expect(stranger.get(id)).rejects.toMatchObject({ code: 'REACH_NOT_FOUND' });
  },
  wait: async () => {
    const id = await api.submit({ capability: 'work' });
    expect(await worked(client.wait(id))).toMatchObject({ state: 'succeeded', result: 'done' });
    expect(await stranger.wait(id, { namespace: api.namespace })).toMatchObject({ result: 'done' });
  },
  run: async () => {
    expect(await worked(client.run({ capability: 'work' }))).toBe('done');
    const task = { capability: 'work', namespace: api.namespace };
    expect(await worked(stranger.run(task))).toBe('done');
  },
  page: async () => {
    const id = await api.submit({ capability: 'work' });
    expect((await client.page()).items).toMatchObject([{ task_id: id }]);
  },
  list: async () => {
    const id = await api.submit({ capability: 'work' });
    expect(await collect(client.list())).toMatchObject([{ task_id: id }]);
  },
  cancel: async () => {
    const id = await api.submit({ capability: 'work' });
    expect(await client.cancel(id)).toMatchObject({ state: 'canceled', canceled: true });
    expect(await stranger.cancel(id, { namespace: api.namespace })).toMatchObject({ state: 'canceled' });
  },
  retry: async () => {
    const id = await failed();
    expect(await client.retry(id)).toMatchObject({ retry_of: id });
    expect(await stranger.retry(id, { namespace: api.namespace })).toMatchObject({ retry_of: id });
  },
  retryMany: async () => {
    const id = await failed();
    expect(await client.retryMany({ state: 'failed' })).toMatchObject({ retried: [{ retry_of: id }] });
  },
  explain: async () => {
    const id = await failed();
    expect((await client.explain(id)).attributions).toHaveLength(1);
    expect((await stranger.explain(id, { namespace: api.namespace })).attributions).toHaveLength(1);
  },
  events: async () => {
    const id = await failed();
    expect((await collect(client.events(id))).at(-1)).toMatchObject({ kind: 'ended' });
    const told = await collect(stranger.events(id, { namespace: api.namespace }));
    expect(told.at(-1)).toMatchObject({ kind: 'ended' });
    // Nothing is left to tell: the stream ends at once, and the client looks whether the task has ended.
    expect(await collect(client.events(id, { after: told.length }))).toEqual([]);
  },
  capability: async () => {
    await api.agent('a1');
    expect(await client.capability('work')).toMatchObject({ agents: 1, versions: [{ agents: ['a1'] }] });
    expect(await stranger.capability('work')).toMatchObject({ agents: 0, versions: [] });
  },
  simulate: async () => {
    await api.agent('a1');
    expect(await client.simulate({ capability: 'work' })).toMatchObject({ chosen: 'a1' });
    expect(await stranger.simulate({ capability: 'work' })).toMatchObject({ by: 'nobody' });
  },
  policies: async () => {
    await client.setPolicy('work', { strategy: 'best' });
    expect(await collect(client.policies())).toMatchObject([
      { capability: 'work', settings: { strategy: 'best' } },
    ]);
  },
  policy: async () => {
    expect(await client.policy('work')).toMatchObject({ namespace: api.namespace, version: 0 });
  },
  setPolicy: async () => {
    expect(await client.setPolicy('work', {}, 0)).toMatchObject({ namespace: api.namespace, version: 1 });
    await expect(client.setPolicy('work', {}, 0)).rejects.toMatchObject({ code: 'REACH_STATE_CONFLICT' });
  },
  removePolicy: async () => {
    await client.setPolicy('work', {});
    expect(await client.removePolicy('work')).toMatchObject({ namespace: api.namespace, settings: null });
    expect(await collect(client.policies())).toEqual([]);
  },
  attributions: async () => {
    const id = await failed();
    expect(await collect(client.attributions())).toMatchObject([{ task_id: id }]);
  },
  attributionSummary: async () => {
    await failed();
    expect((await client.attributionSummary('code')).groups).toMatchObject([{ tasks: 1 }]);
  },
  agents: async () => {
    await api.agent('a1');
    expect(await collect(client.agents())).toMatchObject([{ agent_id: 'a1' }]);
  },
  agent: async () => {
    await api.agent('a1');
    expect(await client.agent('a1')).toMatchObject({ agent_id: 'a1', namespace: api.namespace });
  },
  drain: async () => {
    await api.agent('a1');
    expect(await client.drain('a1', 1000)).toMatchObject({ agent_id: 'a1', state: 'removing' });
  },
  hold: async () => {
    await api.agent('a1');
    expect(await client.hold('a1', 'repairs')).toMatchObject({ agent_id: 'a1', held: { reason: 'repairs' } });
    await expect(stranger.hold('a1')).rejects.toMatchObject({ code: 'REACH_NOT_FOUND' });
  },
  release: async () => {
    await api.agent('a1');
    await client.hold('a1');
    expect(await client.release('a1')).not.toHaveProperty('held');
    await expect(stranger.release('a1')).rejects.toMatchObject({ code: 'REACH_NOT_FOUND' });
  },
  capabilities: async () => {
    await api.agent('a1');
    expect((await client.capabilities()).map((c) => c.capability)).toEqual(['work']);
  },
  pauseCapability: async () => {
    await client.pauseCapability('work', 'because');
    expect((await client.capabilities()).find((c) => c.paused)).toMatchObject({ pause_reason: 'because' });
    expect((await stranger.capabilities()).filter((c) => c.paused)).toEqual([]);
  },
  resumeCapability: async () => {
    await client.pauseCapability('work');
    await client.resumeCapability('work');
    expect((await client.capabilities()).filter((c) => c.paused)).toEqual([]);
  },
};

test('there is a case for every method', () => {
  const methods = Object.getOwnPropertyNames(Client.prototype).filter((name) => !PRIVATE.has(name));
  expect(methods.sort()).toEqual(Object.keys(METHODS).sort());
});

test('schedules and aliases are of the namespace of the client', async () => {
  const schedule = { cron: '0 0 29 2 *', task: { capability: 'work' } } as ScheduleRequest;
  await client.schedules.set('s/1', schedule);
  expect(await client.schedules.get('s/1')).toMatchObject({ namespace: api.namespace, paused: false });
  expect(await client.schedules.pause('s/1', 'so')).toMatchObject({ pause_reason: 'so' });
  expect(await client.schedules.resume('s/1')).toMatchObject({ paused: false });
  const { task_id: id } = await client.schedules.trigger('s/1');
  expect(await client.get(id)).toMatchObject({ namespace: api.namespace });
  expect(await collect(client.schedules.list())).toHaveLength(1);
  expect(await collect(stranger.schedules.list())).toEqual([]);
  expect(await client.schedules.remove('s/1')).toMatchObject({ schedule_id: 's/1' });

  await client.aliases.set('job', 'work');
  expect(await collect(client.aliases.list())).toMatchObject([{ alias: 'job', capability: 'work' }]);
  expect(await collect(stranger.aliases.list())).toEqual([]);
  expect(await client.aliases.remove('job')).toMatchObject({ alias: 'job' });
});

test.each(Object.keys(METHODS))('%s is about the namespace of the client', (method) => METHODS[method]?.());
