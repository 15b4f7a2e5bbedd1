import type { Config } from '../platform/config/config.js';
import { LocalCoordinator } from '../platform/coordination/local.js';
import { RegistryEvents, type Transition } from './registry.events.js';
import { TransitionNews } from './transition-news.js';

const transition = (agentId: string): Transition => ({
  namespace: 'n',
  agentId,
  from: 'online',
  to: 'suspicious',
  reason: 'session broken',
  at: new Date(0),
  held: false,
  evidence: { was: 'seen' },
  here: true,
});

test('each replica hears each change once, the one that committed it as its own', async () => {
  const coordinator = new LocalCoordinator({ clock: () => 0 });
  const replicas = await Promise.all(
    ['r1', 'r2', 'r3'].map(async (replicaId) => {
      const events = new RegistryEvents();
      const heard: Transition[] = [];
      events.on('transition', (t) => heard.push(t));
      await new TransitionNews({ replicaId } as Config, coordinator, events).onApplicationBootstrap();
      return { events, heard };
    }),
  );
  const [first, second, third] = replicas;
  first?.events.emit('transition', transition('a'));
  first?.events.emit('transition', transition('b'));
  third?.events.emit('transition', transition('c'));
  // Messages are handed on in turn: when this one has come, all before it have.
  await new Promise<void>((resolve) => {
    void coordinator
      .subscribe('end', () => resolve())
      .then(() => setImmediate(() => void coordinator.publish('end', '')));
  });
  const [a, b, c] = ['a', 'b', 'c'].map(transition);
  const theirs = (t: Transition | undefined) => ({ ...t, here: false });
  expect(first?.heard).toEqual([a, b, theirs(c)]);
  expect(second?.heard).toEqual(expect.arrayContaining([theirs(a), theirs(b), theirs(c)]));
  expect(second?.heard).toHaveLength(3);
  expect(third?.heard).toHaveLength(3);
  await coordinator.close();
});
