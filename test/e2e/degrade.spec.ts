import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';
import {
  signatureOf,
  WEBHOOK_SECRET,
  WEBHOOK_SECRETS,
  type WebhookCall,
  WebhookReceivers,
} from '../support/webhook-receivers.js';

/* Whom a policy names is told, by a webhook, of tasks that went to a fallback or failed for want of an agent. */

inBothModes('on_degrade', (mode) => {
  const centre = Centre.ofSuite(mode, { env: { REACH_WEBHOOK_SECRETS: WEBHOOK_SECRET } });
  const receivers = new WebhookReceivers();
  let api: Api;
  beforeEach(() => {
    api = centre.api();
  });

  const put = (settings: object) =>
    api.call('PUT', '/api/v1/policies/summarize', {
      namespace: api.namespace,
      settings: { fallback_after_ms: 0, ...settings },
    });
  const setPolicy = async (settings: object) => expect((await put(settings)).status).toBe(200);
  const fails = { when_unreachable: 'fail' };
  /** What is said in the log of a callback of a task, once it is said. */
  const warning = async (id: string, of: RegExp): Promise<string> => {
    let found: string | undefined;
    await until(
      'a warning',
      () => {
        const lines = centre.dispatchers.flatMap((d) => d.log);
        found = lines.find((l) => l['task_id'] === id && of.test(l.msg ?? ''))?.msg;
        return found !== undefined;
      },
      20_000,
    );
    return found as string;
  };
  test('tells of a task that went to a fallback: signed, once', async () => {
    const { url, calls } = await receivers.start();
    await setPolicy({ fallback: ['outline'], on_degrade: { url } });
    const agent = await api.agent('outliner', { capabilities: ['outline'] });
    for (const one of api.each()) await one.agentIs('outliner', 'online');
    const id = await api.submit({ capability: 'summarize' });
    await agent.work();
    await until('a call', () => calls.length > 0);
    const call = calls[0] as WebhookCall;
    expect(call.event).toMatchObject({
      id: `${id}-degraded`,
      type: 'dev.agentreach.task.degraded.v1',
      subject: id,
      data: {
        task_id: id,
        outcome: 'fallback',
        capability: 'outline',
        fallback_used: { from: 'summarize', to: 'outline', reason: expect.stringContaining('summarize') },
      },
    });
    expect(call.headers).toMatchObject({
      'webhook-id': `${id}-degraded`,
      'webhook-signature': signatureOf(call),
    });
    // Another one that comes later tells that the first did not come again, from another replica neither.
    const other = await api.submit({ capability: 'summarize' });
    await until('the other call', () => calls.some((c) => c.event.subject === other));
    expect(calls.filter((c) => c.event.subject === id)).toHaveLength(1);
  });

  test('tells of a task that failed for want of an agent, again where it was not taken', async () => {
    const { url, calls } = await receivers.start(500);
    await setPolicy({ ...fails, on_degrade: { url } });
    const id = await api.submit({ capability: 'summarize', callback_url: url });
    await api.ended(id);
    await until('both, and one again', () => calls.length === 3, 20_000);
    const told = (type: string) => calls.filter((c) => c.event.type === `dev.agentreach.task.${type}.v1`);
    expect(told('unplaceable')[0]?.event.data).toMatchObject({
      outcome: 'failed',
      error: { code: 'REACH_NO_CAPABLE_AGENT' },
    });
    expect(told('failed')[0]?.event).toMatchObject({ id, data: { state: 'failed' } });
    expect(calls.map((c) => c.headers['webhook-signature'])).toEqual(calls.map(signatureOf));
    expect(new Set(calls.map((c) => c.event.id)).size).toBe(2);
  });

  test('comes from the outbox, though the dispatcher died', async () => {
    const { url, calls } = await receivers.start(500);
    await setPolicy({ ...fails, on_degrade: { url } });
    const id = await api.submit({ capability: 'summarize' });
    await warning(id, /unplaceable/);
    for (const dispatcher of centre.dispatchers) {
      await dispatcher.kill9();
      await dispatcher.start();
    }
    await until('it comes again', () => calls.length === 2, 45_000);
    expect(calls.map((c) => c.event.id)).toEqual([`${id}-unplaceable`, `${id}-unplaceable`]);
  });

  test('is given up after its own tries and times, and holds up no task', async () => {
    const silent = await receivers.listen(() => undefined);
    await setPolicy({ ...fails, on_degrade: { url: silent, timeout_ms: 100, max_attempts: 1 } });
    const id = await api.submit({ capability: 'summarize' });
    await api.ended(id);
    expect(await warning(id, /^callback/)).toMatch(
      /^callback of task \S+ \(unplaceable\) failed and is given up: .*timeout/,
    );
  });

  test('goes to no address that is denied', async () => {
    const url = 'http://169.254.169.254/latest/meta-data';
    await setPolicy({ ...fails, on_degrade: { url, max_attempts: 1 } });
    const id = await api.submit({ capability: 'summarize' });
    await api.ended(id);
    expect(await warning(id, /^callback/)).toMatch(/169\.254\.169\.254.* must not be connected to/);
  });

  test('shows no secret, and takes none in the URL', async () => {
    for (const url of ['http://u:p@a.test/', 'https://a.test/?api_key=x', 'ftp://a.test/'])
      expect(await put({ on_degrade: { url } })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/settings/on_degrade/url' }] },
      });
    await setPolicy({ on_degrade: { url: 'https://a.test/x' } });
    let shown: Json;
    await until('every dispatcher follows it', async () => {
      const answers = await Promise.all(api.each().map((one) => one.get('policies/summarize')));
      shown = answers.map(({ body }) => body);
      return answers.every(({ body }) => body.settings.on_degrade !== undefined);
    });
    expect(shown[0].settings.on_degrade).toEqual({
      url: 'https://a.test/x',
      timeout_ms: 5000,
      max_attempts: 6,
    });
    const told = JSON.stringify([shown, centre.dispatchers.map((d) => d.log)]);
    for (const secret of WEBHOOK_SECRETS) expect(told).not.toContain(secret);
  });
});
