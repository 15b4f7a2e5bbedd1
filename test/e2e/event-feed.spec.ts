import type { Api } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { FeedReader } from '../support/feed-reader.js';
import { until } from '../support/until.js';

inBothModes('the feed of events', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;
  const readers: FeedReader[] = [];

  beforeEach(() => {
    api = centre.api();
  });
  afterEach(() => Promise.all(readers.splice(0).map((r) => r.close())));

  async function read(from: Api, query: Record<string, string> = {}, since?: string): Promise<FeedReader> {
    const reader = await FeedReader.open(from, query, since);
    readers.push(reader);
    return reader;
  }
  const order = (id: string, what: string, body?: object) =>
    api.call('POST', `/api/v1/agents/${id}/${what}?namespace=${api.namespace}`, body);

  test('tells on every dispatcher what happens to agents, once, in one order', async () => {
    const mine = { type: 'transition,hold,release' };
    const feeds = await Promise.all(api.each().map((one) => read(one, mine)));
    const agent = await api.agent('a1');
    await order('a1', 'hold', { reason: 'new disk' });
    await order('a1', 'release');
    await agent.deregister(60_000);
    const all = ['a1 online', 'a1 hold', 'a1 release', 'a1 removing'];
    for (const feed of feeds) await until('all of it', () => feed.events.length >= all.length);
    for (const feed of feeds) {
      expect(feed.told).toEqual(all);
      expect(feed.events).toEqual(feeds[0]?.events);
    }
    expect(feeds[0]?.events[1]).toMatchObject({
      type: 'hold',
      namespace: api.namespace,
      agent_id: 'a1',
      reason: 'new disk',
      from_state: 'online',
      to_state: 'online',
      evidence: { by: 'anonymous' },
    });
  });

  test('one who resumes again and again, wherever, misses nothing and gets nothing twice', async () => {
    const count = 300;
    const registering = Promise.all(Array.from({ length: count }, (_, i) => api.agent(`a${i}`)));
    const told: string[] = [];
    // A prober on a busy machine may doubt itself meanwhile.
    const only = { type: 'transition' };
    let since = '0';
    for (let turn = 0; told.length < count && turn < 200; turn++) {
      const before = told.length;
      const feed = await read(centre.api(api.namespace).at(centre.dispatcher(turn).url), only, since);
      // Now and then it hangs up before anything new came: then too the place is kept.
      if (turn % 3 > 0) await until('some more', () => feed.events.length > 0 || told.length >= count);
      await feed.close();
      told.push(...feed.told);
      since = feed.lastId ?? since;
      if (told.length === before && turn % 3 > 0) break;
    }
    await registering;
    expect(new Set(told).size).toBe(told.length);
    expect([...told].sort()).toEqual(Array.from({ length: count }, (_, i) => `a${i} online`).sort());
  });

  test('tells only what was asked for, and nothing of other namespaces', async () => {
    const other = centre.api();
    const [one, holds, theirs] = await Promise.all([
      read(api, { agent_id: 'a1' }),
      read(api, { type: 'hold,release' }),
      read(other, { type: 'transition' }),
    ]);
    await api.agent('a2');
    await api.agent('a1');
    await order('a2', 'hold');
    await order('a1', 'hold');
    await other.agent('b1');
    await until(
      'all came',
      () => one.events.length > 1 && holds.events.length > 1 && theirs.events.length > 0,
    );
    expect(one.told).toEqual(['a1 online', 'a1 hold']);
    expect(holds.told).toEqual(['a2 hold', 'a1 hold']);
    expect(theirs.told).toEqual(['b1 online']);
  });

  test('refuses an id that is none of its own, and a type that there is not', async () => {
    const answer = await api.call('GET', '/api/v1/events', undefined, { 'last-event-id': '17' });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/last-event-id' }] } });
    const future = '9000000000000000000.01a22b34-b1da-7010-9e39-c0ed4a7e07a7';
    expect((await api.get('events', { last_event_id: future })).status).toBe(400);
    expect((await api.get('events', { type: 'hold,nothing' })).status).toBe(400);
  });

  test('tells in every namespace that the prober of a replica doubts itself, and that it is over', async () => {
    const feed = await read(api.at(centre.dispatcher(1).url), { type: 'doubt,trust' });
    const dispatcher = centre.dispatcher(0);
    const before = dispatcher.log.length;
    dispatcher.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    dispatcher.signal('SIGCONT');
    await dispatcher.logged('doubt', (line) => line.event === 'reach_prober_doubt', before);
    await until('both', () => feed.events.length > 1);
    expect(feed.events.map((e) => [e.type, e.evidence.kind, e.namespace])).toEqual([
      ['doubt', 'stall', undefined],
      ['trust', 'stall', undefined],
    ]);
    expect(feed.events[0].reason).toMatch(/^this process stood still for \d+ ms$/);
    expect(feed.events[0].replica_id).toBeTruthy();
  });
});
