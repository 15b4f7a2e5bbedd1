import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes, type Mode } from '../support/centre.js';
import { PushEndpoint } from '../support/push-endpoint.js';
import { ConsulServer, NacosServer, type SourceServer } from '../support/source-server.js';
import { until } from '../support/until.js';

/** A lease of 3.5 s; suspicious after 2 s without renewal; removed after 2.5 s that it is gone. */
const QUICK = {
  REACH_HEARTBEAT_INTERVAL_MS: '1000',
  REACH_LEASE_GRACE_MS: '500',
  REACH_MEMBERSHIP_INTERVAL_MS: '200',
  REACH_SOURCE_NAMESPACE: 'sourced',
  REACH_SOURCE_INTERVAL_MS: '50',
  REACH_SOURCE_GRACE_MS: '2500',
  REACH_DRAIN_MS: '500',
  REACH_CREDENTIAL_SOURCE: 'sesame',
};

/** What is the same of every test here: a source, a centre that follows it, and a service to push to. */
class Scene {
  centre!: Centre;
  api!: Api;
  endpoint!: PushEndpoint;

  constructor(readonly source: SourceServer) {}

  async start(mode: Mode, env: Record<string, string>): Promise<void> {
    this.centre = await Centre.start(mode, { env: { ...QUICK, ...env } });
    this.api = this.centre.api('sourced');
    this.endpoint = await PushEndpoint.start(this.api, 'done');
  }

  async stop(): Promise<void> {
    await this.endpoint?.stop();
    await this.centre?.stop();
    await this.source.kill();
  }

  agent = (id: string): Promise<Json> => this.api.get(`agents/${id}`).then((answer) => answer.body);

  state(id: string, wanted: string): Promise<void> {
    return until(`${id} is ${wanted}`, async () => (await this.agent(id)).state === wanted, 20_000);
  }

  /** The replicas that follow the source and hear it. */
  async followers(): Promise<number[]> {
    const texts = await Promise.all(
      this.centre.urls.map((url) =>
        fetch(`${url}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        ),
      ),
    );
    return texts.flatMap((text, i) => (/^reach_source_up\{source="\w+"\} 1$/m.test(text) ? [i] : []));
  }
}

inBothModes('agents from Consul', (mode) => {
  const consul = new ConsulServer();
  const scene = new Scene(consul);

  beforeAll(async () => {
    consul.token = 'sesame';
    await consul.start();
    await scene.start(mode, {
      REACH_CONSUL_URL: consul.url,
      REACH_CONSUL_CREDENTIAL: 'env:REACH_CREDENTIAL_SOURCE',
    });
  }, 60_000);
  afterAll(() => scene.stop());

  test('a service that appears gets work; it is removed some time after it is gone', async () => {
    const { port } = scene.endpoint;
    const meta = {
      reach_agent_id: 'summarizer-1',
      reach_capabilities: 'document.summarize@2.1, document.translate',
      reach_max_concurrency: '4',
      reach_tags: 'gpu',
      reach_zone: 'eu',
      reach_path: 'agents/summarizer',
    };
    consul.put('summarizer', 's1', { port, meta });
    await scene.state('summarizer-1', 'online');
    expect(await scene.agent('summarizer-1')).toMatchObject({
      source: 'consul',
      name: 'summarizer',
      transport: 'push',
      endpoint: `http://127.0.0.1:${port}/agents/summarizer`,
      capabilities: [{ name: 'document.summarize', version: '2.1' }, { name: 'document.translate' }],
      max_concurrency: 4,
      tags: ['gpu'],
      metadata: { zone: 'eu', service: 'summarizer' },
    });
    const id = await scene.api.submit({ capability: 'document.translate', payload: 1 });
    expect(await scene.api.ended(id)).toMatchObject({
      state: 'succeeded',
      agent_id: 'summarizer-1',
      result: 'done',
    });

    consul.remove('summarizer', 's1');
    // Isolated first, removed later.
    await scene.state('summarizer-1', 'suspicious');
    await until('removed', async () => (await scene.agent('summarizer-1')).removed_at !== undefined, 20_000);
    const { history } = await scene.agent('summarizer-1');
    expect(history[0]).toMatchObject({ to_state: 'removing', reason: 'gone from consul' });
    consul.put('summarizer', 's1', { port, meta });
    await scene.state('summarizer-1', 'online');
    consul.remove('summarizer', 's1');
  });

  test('what is unhealthy there is isolated and goes offline, and comes back', async () => {
    const meta = { reach_agent_id: 'sick', reach_capabilities: 'sick.work' };
    consul.put('sick', 'x', { port: scene.endpoint.port, meta });
    await scene.state('sick', 'online');
    consul.put('sick', 'x', { port: scene.endpoint.port, meta, healthy: false });
    await scene.state('sick', 'offline');
    expect((await scene.agent('sick')).history.map((h: Json) => h.to_state)).toContain('suspicious');
    consul.put('sick', 'x', { port: scene.endpoint.port, meta });
    await scene.state('sick', 'online');
    consul.remove('sick', 'x');
  });

  test('a source that is away takes nobody down', async () => {
    consul.put('steady', 'x', {
      port: scene.endpoint.port,
      meta: { reach_agent_id: 'steady', reach_capabilities: 'steady.work' },
    });
    await scene.state('steady', 'online');
    const { registered_at } = await scene.agent('steady');
    await consul.kill();
    await until('heard of', async () => (await scene.followers()).length === 0);
    const beats = async () => (await scene.agent('steady')).last_heartbeat_at as string;
    const at = await beats();
    // Longer than a lease, by its own renewals.
    await until('renewed on', async () => Date.parse(await beats()) - Date.parse(at) > 5000);
    expect(await scene.agent('steady')).toMatchObject({ state: 'online', registered_at });
    await consul.start();
    await until('heard again', async () => (await scene.followers()).length === 1);
    expect(await scene.agent('steady')).toMatchObject({ state: 'online', registered_at });
    consul.remove('steady', 'x');
  });

  test('a change is taken over under the same lease', async () => {
    const { port } = scene.endpoint;
    const meta = { reach_agent_id: 'changing', reach_capabilities: 'old.work' };
    consul.put('changing', 'x', { port, meta });
    await scene.state('changing', 'online');
    const capabilities = async () => (await scene.agent('changing')).capabilities.map((c: Json) => c.name);
    const id = await scene.api.submit({ capability: 'old.work' });
    await scene.api.ended(id);
    const lease = scene.endpoint.offers.at(-1).lease_id;
    consul.put('changing', 'x', { port, meta: { ...meta, reach_capabilities: 'new.work' } });
    await until('new', async () => (await capabilities()).join() === 'new.work');
    await scene.api.ended(await scene.api.submit({ capability: 'new.work' }));
    expect(scene.endpoint.offers.at(-1).lease_id).toBe(lease);
    consul.remove('changing', 'x');
  });

  test('an agent that registered itself keeps its id; who cannot be read is left out, and said so', async () => {
    const own = await scene.api.agent('mine', { capabilities: ['mine.work'] });
    const from = scene.centre.dispatchers.map((d) => d.log.length);
    const refused = (what: RegExp) =>
      Promise.any(
        scene.centre.dispatchers.map((d, i) =>
          d.logged(
            String(what),
            (l) => l.event === 'reach_source_refused' && what.test(l.msg ?? ''),
            from[i],
          ),
        ),
      );
    consul.put('thief', 'x', { port: scene.endpoint.port, meta: { reach_agent_id: 'mine' } });
    consul.put('typo', 'x', { port: scene.endpoint.port, meta: { reach_capabilites: 'a' } });
    consul.put('hostile', 'x', {
      port: scene.endpoint.port,
      meta: { reach_agent_id: 'a\u0000b', reach_max_concurrency: 'many' },
    });
    consul.put('sound', 'x', { port: scene.endpoint.port, meta: { reach_agent_id: 'sound' } });
    await scene.state('sound', 'online');
    expect((await refused(/mine/)).msg).toMatch(/lists an agent mine, but another registered under that id/);
    await refused(/^x of typo at node node-1 cannot be taken over: .*did you mean reach_capabilities\?$/);
    await refused(/^x of hostile at node node-1 cannot be taken over: \/agent_id: /);
    expect(await scene.agent('mine')).not.toHaveProperty('source');
    expect((await own.heartbeat()).status).toBe(200);
    for (const service of ['thief', 'typo', 'hostile', 'sound']) consul.remove(service, 'x');
  });

  if (mode === 'distributed')
    test('one replica follows it; another goes on when that one dies, and nobody goes down meanwhile', async () => {
      const meta = { reach_agent_id: 'kept', reach_capabilities: 'kept.work' };
      consul.put('kept', 'x', { port: scene.endpoint.port, meta });
      await scene.state('kept', 'online');
      const { registered_at } = await scene.agent('kept');
      const [owner = 0, ...others] = await scene.followers();
      expect(others).toEqual([]);
      const dispatcher = scene.centre.dispatcher(owner);
      await dispatcher.kill9();
      const heir = scene.api.at(scene.centre.dispatcher(owner + 1).url);
      await until('taken over', async () => (await scene.followers()).join() === String(1 - owner));
      consul.put('fresh', 'x', { port: scene.endpoint.port, meta: { reach_agent_id: 'fresh' } });
      await until('fresh', async () => (await heir.get('agents/fresh')).body.state === 'online');
      const kept = (await heir.get('agents/kept')).body;
      expect(kept).toMatchObject({ state: 'online', registered_at });
      await dispatcher.start();
      await until('shared out', async () => (await scene.followers()).length === 1);
    });
});

describe('agents from Nacos', () => {
  const nacos = new NacosServer();
  const scene = new Scene(nacos);

  beforeAll(async () => {
    nacos.password = 'sesame';
    await nacos.start();
    await scene.start('embedded', {
      REACH_NACOS_URL: `${nacos.url}/nacos`,
      REACH_NACOS_GROUP: 'agents',
      REACH_NACOS_CREDENTIAL: 'env:REACH_CREDENTIAL_SOURCE',
    });
  }, 60_000);
  afterAll(() => scene.stop());

  test('a service that appears gets work, and is removed some time after it is gone', async () => {
    const { port } = scene.endpoint;
    nacos.put('translator', 't1', { port, meta: { reach_capabilities: 'document.translate' } });
    const id = `translator-127.0.0.1-${port}`;
    await scene.state(id, 'online');
    const task = await scene.api.submit({ capability: 'document.translate' });
    expect(await scene.api.ended(task)).toMatchObject({ state: 'succeeded', agent_id: id });
    nacos.remove('translator', 't1');
    await until('removed', async () => (await scene.agent(id)).removed_at !== undefined, 20_000);
  });
});
