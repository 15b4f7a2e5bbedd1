import type { Api, Json } from '../support/api.js';
import { Centre, inBothModes } from '../support/centre.js';
import { Load } from '../support/load.js';

/** A start takes 2 s on a machine at rest, and ten times that on one that is busy with other tests. */
const RESTARTS_WITHIN_MS = 180_000;
/** Long enough for agents to come back after the restart. */
const ACK_TIMEOUT_MS = 10_000;

inBothModes('an orderly end', (mode) => {
  const centre = Centre.ofSuite(mode);
  let api: Api;

  beforeEach(() => {
    api = centre.api();
  });

  test(
    'under load: exit 0, nothing lost, no attempt charged',
    async () => {
      const load = new Load(api, centre.urls, ACK_TIMEOUT_MS);
      await load.start();
      for (const dispatcher of centre.dispatchers) {
        await load.goesOn(100, 60_000);
        expect(await dispatcher.terminate()).toBe(0);
        await dispatcher.start();
      }
      await load.goesOn(50, 10_000);
      const tasks = await load.finish();
      expect(new Set(tasks.map((t) => t.task_id as string))).toEqual(new Set(load.accepted));
      const odd = tasks.filter((t) => t.state !== 'succeeded' || t.attempt !== 1);
      expect(odd.map((t) => [t.state, t.attempt, t.agent_id])).toEqual([]);
      for (const [task, times] of load.executions)
        if (times > 1) throw new Error(`task ${task} was begun ${times} times`);
    },
    RESTARTS_WITHIN_MS,
  );

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'after %s offers that nobody fetched are made again, at once and without a charge',
    async (signal) => {
      const agent = await api.agent('a1', { max_concurrency: 3 });
      const ids: string[] = [];
      for (let i = 0; i < 3; i++)
        ids.push(await api.submit({ capability: 'work', ack_timeout_ms: 60_000, max_attempts: 1 }));
      await Promise.all(ids.map((id) => api.reached(id, 'offered')));
      await Promise.all(
        centre.dispatchers.map(async (d) => {
          await (signal === 'SIGTERM' ? d.terminate() : d.kill9());
          await d.start();
        }),
      );
      const offers: Json[] = [];
      while (offers.length < 3) {
        const more = await agent.offers(3);
        if (more.length === 0) throw new Error(`only ${offers.length} offers came`);
        offers.push(...more);
      }
      for (const { delivery_id } of offers) {
        await agent.ack(delivery_id);
        await agent.complete(delivery_id);
      }
      for (const id of ids) expect(await api.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    },
    RESTARTS_WITHIN_MS,
  );
});
