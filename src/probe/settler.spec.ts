import { Logger } from '@nestjs/common';
import type { ProbeResult } from '../core/probe-result.js';
import { CONFIRM_MS } from '../core/probe-schedule.js';
import { UNKNOWN } from '../core/verdict.js';
import type { ProbeMetrics } from './probe-metrics.js';
import type { Replicas } from './replicas.js';
import type { SelfWatch } from './self-watch.js';
import { Settler } from './settler.js';
import type { Watched } from './watched.js';

const FINE: ProbeResult = { ok: true, latencyMs: 1, slow: false };
const FAILED: ProbeResult = { ok: false, fault: 'refused', latencyMs: 1, detail: 'nobody listens there' };
const OURS: ProbeResult = { ok: false, fault: 'misconfigured', latencyMs: 1, detail: 'no such credential' };
const INTERVAL_MS = 60_000;

/** The monotonic clock, in ms: it stands still but for a step each round. */
let clockMs = 0;
const realNow = performance.now.bind(performance);

/** A prober that can doubt itself, and agents that each have one thing under watch. */
class Scene {
  /** Whether a look at ourselves finds nothing. */
  isWell = true;
  /** Whether a failure may be ours. */
  doubts = false;
  readonly doubted: string[] = [];
  readonly told: string[] = [];
  readonly targets: Watched[];
  private readonly settler: Settler;

  constructor(agents: number) {
    const self = {
      mayBeOurs: () => this.doubts,
      doubtMass: (namespace: string) => this.doubted.push(namespace),
      check: () => Promise.resolve(this.isWell),
    } as unknown as SelfWatch;
    const replicas = { clockMs: () => performance.now() } as Replicas;
    this.settler = new Settler(self, replicas, { probed: () => undefined } as unknown as ProbeMetrics);
    this.targets = Array.from({ length: agents }, (_, i) => this.target(`a${i}`));
  }

  /** Every target is probed once with this result; when each is due again, in ms from now. */
  async probe(result: ProbeResult): Promise<number[]> {
    clockMs += CONFIRM_MS;
    const dues = this.targets.map((target) => {
      const ended = { result, startedMs: clockMs, queuedMs: 0 };
      return this.settler.settle(target, ended, () => this.targets.length, 1) - clockMs;
    });
    // A look at ourselves, if one began, is over.
    await new Promise(setImmediate);
    return dues;
  }

  private target(agentKey: string): Watched {
    const ref = { namespace: 'default', agentId: agentKey, leaseId: 'lease' };
    const { told } = this;
    return {
      id: agentKey,
      kind: 'http',
      label: 'http://server/',
      host: undefined,
      rank: 1,
      intervalMs: INTERVAL_MS,
      stretch: 1,
      phase: 0,
      verdict: UNKNOWN,
      told: UNKNOWN,
      toldAtMs: -Infinity,
      failingSinceMs: -Infinity,
      listeners: () => [{ agentKey, ref, critical: true }],
      probe: () => Promise.resolve(FINE),
      tell() {
        told.push(`${agentKey} ${this.told.standing}`);
      },
    };
  }
}

beforeAll(() => {
  Logger.overrideLogger(false);
  performance.now = () => clockMs;
});
afterAll(() => {
  performance.now = realNow;
});

test('failures count one after the other, and the next probe comes soon while they do', async () => {
  const scene = new Scene(1);
  await scene.probe(FINE);
  expect((await scene.probe(FAILED))[0]).toBeLessThanOrEqual(CONFIRM_MS);
  await scene.probe(FAILED);
  await scene.probe(FAILED);
  expect(scene.told).toEqual(['a0 good', 'a0 suspect', 'a0 bad']);
});

test('nobody is told to be bad as long as we are not well, and is asked again soon until we know', async () => {
  const scene = new Scene(1);
  await scene.probe(FINE);
  scene.isWell = false;
  for (let i = 0; i < 6; i++) expect((await scene.probe(FAILED))[0]).toBeLessThanOrEqual(CONFIRM_MS);
  expect(scene.told).toEqual(['a0 good', 'a0 suspect']);
  scene.isWell = true;
  // The look that this round begins is over before the next one.
  await scene.probe(FAILED);
  await scene.probe(FAILED);
  expect(scene.told).toEqual(['a0 good', 'a0 suspect', 'a0 bad']);
});

test('while a failure may be ours none counts, and the probe is done again soon', async () => {
  const scene = new Scene(1);
  await scene.probe(FINE);
  const [target] = scene.targets as [Watched];
  const before = target.verdict;
  scene.doubts = true;
  for (let i = 0; i < 10; i++) expect((await scene.probe(FAILED))[0]).toBeLessThanOrEqual(CONFIRM_MS);
  expect(target.verdict).toBe(before);
  expect(scene.told).toEqual(['a0 good']);

  scene.doubts = false;
  await scene.probe(FAILED);
  expect(target.verdict).toMatchObject({ standing: 'suspect', failures: 1 });
});

test('what we cannot ask says nothing, and is asked again at its time', async () => {
  const scene = new Scene(1);
  await scene.probe(FINE);
  for (let i = 0; i < 5; i++) expect((await scene.probe(OURS))[0]).toBeGreaterThan(0);
  expect(scene.told).toEqual(['a0 good']);
});

describe('when most of a namespace fails at once', () => {
  async function failing(): Promise<Scene> {
    const scene = new Scene(10);
    await scene.probe(FINE);
    scene.told.length = 0;
    return scene;
  }
  const EARLY = ['a0 suspect', 'a1 suspect', 'a2 suspect'];

  test('the fourth and all that follow wait for a look at ourselves and one more round', async () => {
    const scene = await failing();
    await scene.probe(FAILED);
    expect(scene.told).toEqual(EARLY);
    expect(scene.doubted.length).toBeGreaterThan(0);
    await scene.probe(FAILED);
    expect(scene.told).toEqual([...EARLY, ...[3, 4, 5, 6, 7, 8, 9].map((i) => `a${i} suspect`)]);
  });

  test('nothing more is told as long as we are not well, however often they fail', async () => {
    const scene = await failing();
    scene.isWell = false;
    for (let i = 0; i < 6; i++) await scene.probe(FAILED);
    expect(scene.told).toEqual(EARLY);
    scene.isWell = true;
    // The look that this round begins is over before the next one.
    await scene.probe(FAILED);
    expect(scene.told).toEqual(EARLY);
    await scene.probe(FAILED);
    expect(scene.told.filter((line) => line.endsWith('bad'))).toHaveLength(10);
  });

  test('those that come back meanwhile were never down', async () => {
    const scene = await failing();
    scene.isWell = false;
    await scene.probe(FAILED);
    await scene.probe(FINE);
    await scene.probe(FINE);
    expect(new Set(scene.told)).toEqual(new Set([...EARLY, 'a0 good', 'a1 good', 'a2 good']));
  });
});
