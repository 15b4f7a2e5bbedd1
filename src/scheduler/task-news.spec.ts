import type { Config } from '../platform/config/config.js';
import { LocalCoordinator } from '../platform/coordination/local.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { TaskNews } from './task-news.js';

/* Two replicas on one bus. */

async function replicas(): Promise<{ here: TaskNews; there: TaskNews; published: string[] }> {
  const bus = new LocalCoordinator({ clock: () => performance.now() });
  const published: string[] = [];
  await bus.subscribe('task-news', (text) => published.push(text));
  const [here, there] = await Promise.all(
    ['here', 'there'].map(async (replicaId) => {
      const news = new TaskNews({ replicaId } as Config, bus, new Shutdown({ shutdownGraceMs: 1 }));
      await news.onApplicationBootstrap();
      return news;
    }),
  );
  return { here: here!, there: there!, published };
}

/** What was published has arrived everywhere. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a step on another replica is told to who watches the task', async () => {
  const { here, there } = await replicas();
  const heard: boolean[] = [];
  const stop = await here.watch('t1', (terminal) => heard.push(terminal));
  await settled();
  there.stepped(['t0', 't1']);
  await settled();
  expect(heard).toEqual([false]);
  here.stepped(['t1']);
  expect(heard).toEqual([false, false]);
  stop();
  there.stepped(['t1']);
  await settled();
  expect(heard).toHaveLength(2);
});

test('steps that nobody elsewhere watches are not published', async () => {
  const { here, there, published } = await replicas();
  here.listen('t1', () => undefined);
  await there.watch('t2', () => undefined);
  await settled();
  published.length = 0;
  there.stepped(['t1', 't2']);
  here.stepped(['t1']);
  await settled();
  expect(published).toEqual([]);
});
