import { Shutdown } from '../lifecycle/shutdown.js';
import { Readiness } from './readiness.js';

function readiness() {
  const shutdown = new Shutdown({ shutdownGraceMs: 1000 });
  return { shutdown, readiness: new Readiness(shutdown) };
}

test('is ready once started, with every check passed', async () => {
  const { readiness: it } = readiness();
  it.add('postgres', () => Promise.resolve());
  expect((await it.report()).ready).toBe(false);
  it.markStarted();
  expect(await it.report()).toEqual({ ready: true, checks: { postgres: 'ok' } });
});

test('a check that fails is named with its reason', async () => {
  const { readiness: it } = readiness();
  it.markStarted();
  it.add('redis', () => Promise.reject(new Error('connection refused')));
  expect(await it.report()).toEqual({ ready: false, checks: { redis: 'connection refused' } });
});

test('what can be done without is reported, and counts for nothing', async () => {
  const { readiness: it } = readiness();
  it.markStarted();
  it.watch('redis', () => Promise.reject(new Error('does not answer')));
  expect(await it.report()).toEqual({ ready: true, checks: { redis: 'does not answer' } });
});

test('is not ready from the first moment of a shutdown on, while steps still run', async () => {
  const { readiness: it, shutdown } = readiness();
  it.markStarted();
  let during: boolean | undefined;
  shutdown.on('intake', 'look', async () => {
    during = (await it.report()).ready;
  });
  await shutdown.run();
  expect(during).toBe(false);
});
