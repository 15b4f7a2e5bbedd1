import { Logger } from '@nestjs/common';
import type { Config } from '../platform/config/config.js';
import { Readiness } from '../platform/health/readiness.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { Hearing } from '../registry/hearing.js';
import type { Canary } from './canary.js';
import type { Journal } from './journal.js';
import { SelfWatch } from './self-watch.js';

const { jest } = import.meta;

/** A prober that is up and whose canary says what the test says, on a clock that the test turns. */
class Scene {
  wrong: string | undefined;
  readonly notes: string[] = [];
  readonly shutdown = new Shutdown({ shutdownGraceMs: 1000 });
  readonly readiness = new Readiness(this.shutdown);
  readonly hearing = new Hearing({ sweepIntervalMs: 200 } as Config, this.readiness);
  readonly watch: SelfWatch;

  constructor() {
    this.readiness.markStarted();
    const canary = { check: () => Promise.resolve(this.wrong) } as unknown as Canary;
    const journal = {
      note: (kind: string, reason: string, evidence: { kind: string }) =>
        this.notes.push(`${kind} (${evidence.kind}): ${reason}`),
      flush: () => undefined,
    } as unknown as Journal;
    const { hearing, readiness, shutdown } = this;
    this.watch = new SelfWatch(canary, hearing, journal, readiness, new Metrics(), shutdown);
    this.watch.onApplicationBootstrap();
  }

  async mark(): Promise<string | undefined> {
    return (await this.readiness.report()).checks['prober'];
  }
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
let scene: Scene;

beforeAll(() => Logger.overrideLogger(false));
beforeEach(() => {
  jest.useFakeTimers();
  scene = new Scene();
});
afterEach(async () => {
  await scene.shutdown.run();
  jest.useRealTimers();
});

test('while the canary fails every failure may be ours, and everybody can see it', async () => {
  await pass(6000);
  expect(scene.watch.mayBeOurs(performance.now())).toBe(false);
  scene.wrong = 'PostgreSQL does not answer';
  await pass(6000);
  expect(scene.watch.mayBeOurs(performance.now())).toBe(true);
  expect(await scene.mark()).toBe('verdicts are frozen: PostgreSQL does not answer');
  expect(await scene.readiness.report()).toMatchObject({ ready: true });
  await pass(60_000);
  scene.wrong = undefined;
  // In doubt it looks every second.
  await pass(1200);
  expect(scene.watch.mayBeOurs(performance.now())).toBe(false);
  expect(await scene.mark()).toBe('ok');
  expect(scene.notes).toEqual([
    'doubt (canary): PostgreSQL does not answer',
    'trust (canary): over: PostgreSQL does not answer',
  ]);
});

test('nobody’s silence proves anything in the doubt, not even between two looks, nor before a time of trust', async () => {
  const heard: number[] = [];
  const listen = async (seconds: number) => {
    heard.length = 0;
    for (let i = 0; i < seconds * 5; i++) {
      await pass(200);
      heard.push(scene.hearing.unbrokenMs());
    }
    return Math.max(...heard);
  };
  expect(await listen(60)).toBeGreaterThan(59_000);
  scene.wrong = 'no answer';
  await listen(6);
  // The shortest lease that there may be is 300 ms.
  expect(await listen(20)).toBeLessThan(300);
  scene.wrong = undefined;
  expect(await listen(2)).toBeLessThanOrEqual(2000);
  expect(await listen(10)).toBeGreaterThan(10_000);
});

test('a mass change is a doubt that freezes nothing, and is over when no more of it was seen for a while', async () => {
  const reason = 'most agents of a namespace would turn at once';
  scene.watch.doubtMass('default');
  await pass(4000);
  scene.watch.doubtMass('default');
  expect(await scene.mark()).toBe(`verdicts wait to be confirmed: ${reason}`);
  expect(scene.watch.mayBeOurs(performance.now())).toBe(false);
  await pass(9000);
  expect(scene.notes).toEqual([`doubt (mass): ${reason}`]);
  await pass(7000);
  expect(await scene.mark()).toBe('ok');
  expect(scene.notes).toEqual([`doubt (mass): ${reason}`, `trust (mass): over: ${reason}`]);
});

test('a stall is told once it is over, and only what was under way in it may be ours', async () => {
  await pass(1000);
  const before = performance.now();
  // The clock goes on while nothing runs.
  const now = performance.now;
  performance.now = () => now.call(performance) + 3000;
  expect(scene.watch.mayBeOurs(before)).toBe(true);
  await pass(200);
  expect(scene.watch.mayBeOurs(before)).toBe(true);
  expect(scene.watch.mayBeOurs(performance.now() - 50)).toBe(false);
  performance.now = now;
  expect(scene.notes).toHaveLength(2);
  expect(scene.notes[0]).toMatch(/^doubt \(stall\): this process stood still for 3\d\d\d ms$/);
  expect(scene.notes[1]).toMatch(/^trust \(stall\): over: this process/);
});
