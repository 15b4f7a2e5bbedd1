import type { Api } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { until } from '../support/until.js';
import {
  signatureOf,
  WEBHOOK_SECRET,
  type WebhookCall,
  WebhookReceivers,
} from '../support/webhook-receivers.js';

inBothModes('callbacks', (mode) => {
  const centre = Centre.ofSuite(mode, { env: { REACH_WEBHOOK_SECRETS: WEBHOOK_SECRET } });
  const receivers = new WebhookReceivers();
  let api: Api;
  beforeEach(() => {
    api = centre.api();
  });

  /** Submits tasks that end at once, by expiring. */
  const short = (callback_url: string, count = 1) =>
    api.post('tasks/batch', {
      tasks: Array.from({ length: count }, () => ({
        namespace: api.namespace,
        capability: 'nobody-has-this',
        expires_in_ms: 1,
        callback_url,
      })),
    });

  test('the end of a task is told, signed, once', async () => {
    const { url, calls } = await receivers.start();
    const agent = await api.agent('a1');
    const id = await api.submit({ capability: 'work', callback_url: url });
    await agent.work({ answer: 42 });
    await until('a call', () => calls.length > 0);
    const call = calls[0] as WebhookCall;
    const { headers, event } = call;
    expect(event).toMatchObject({ id, type: 'dev.agentreach.task.succeeded.v1' });
    expect(event.data).toMatchObject({ task_id: id, agent_id: 'a1', result: { answer: 42 } });
    expect(headers).toMatchObject({ 'webhook-id': id, 'webhook-signature': signatureOf(call) });
    // Another one that comes later tells that the first did not come again.
    await short(url);
    await until('the other call', () => calls.length > 1);
    expect(calls.filter((c) => c.event.id === id)).toHaveLength(1);
  });

  test('an answer that is none is asked for again', async () => {
    const { url, calls } = await receivers.start(500);
    await short(url);
    await until('a second call', () => calls.length === 2, 20_000);
    expect(calls[0]?.headers['webhook-id']).toBe(calls[1]?.headers['webhook-id']);
  });

  test('a host that hangs holds up nobody else, and gets a few at a time', async () => {
    let hanging = 0;
    const silent = await receivers.listen(() => hanging++);
    await short(silent, 300);
    await until('calls that hang', () => hanging > 0);
    const { url, calls } = await receivers.start();
    const before = performance.now();
    await short(url, 20);
    await until('20 calls', () => calls.length === 20);
    // Well within the time that a call may hang.
    expect(performance.now() - before).toBeLessThan(8000);
    // The limit may be passed by what was taken in one go.
    expect(hanging).toBeLessThanOrEqual(2 * 32 * centre.dispatchers.length);
  });
});
