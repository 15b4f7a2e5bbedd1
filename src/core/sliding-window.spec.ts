import fc from 'fast-check';
import { BUCKET_MS, BUCKETS, DECAY, newSketch, SILENT_AFTER_MS, SlidingWindow } from './sliding-window.js';

const WINDOW_MS = BUCKET_MS * BUCKETS;
/** Buckets after which what came before the end of an outage may weigh nothing beside what came later. */
const FORGOTTEN = 12;
const EMPTY = {
  samples: 0,
  succeeded: 0,
  successRate: undefined,
  p50Ms: undefined,
  p95Ms: undefined,
  consecutiveFailures: 0,
};

/** A window with so many of each at `atMs`. */
function filled(w: SlidingWindow, atMs: number, good: number, bad: number, latencyMs = 10): SlidingWindow {
  for (let i = 0; i < bad; i++) w.record(atMs, { ok: false });
  for (let i = 0; i < good; i++) w.record(atMs, { ok: true, latencyMs });
  return w;
}

test('an empty window says so', () => {
  expect(new SlidingWindow().read(5)).toEqual({ ...EMPTY, lastActivityMs: undefined, silent: true });
});

test('recent results weigh more, by 0.95 for each bucket', () => {
  const w = filled(new SlidingWindow(), 0, 0, 2);
  filled(w, BUCKET_MS, 2, 0);
  expect(w.read(BUCKET_MS).successRate).toBeCloseTo(1 / (1 + DECAY), 10);
  // Both age alike.
  expect(w.read(10 * BUCKET_MS).successRate).toBeCloseTo(1 / (1 + DECAY), 10);
});

test('it counts failures running, and sees silence', () => {
  const w = filled(new SlidingWindow(), 0, 1, 0);
  filled(w, 1000, 0, 2);
  expect(w.read(1000)).toMatchObject({ consecutiveFailures: 2, lastActivityMs: 1000, silent: false });
  expect(w.read(1000 + SILENT_AFTER_MS).silent).toBe(false);
  expect(w.read(1001 + SILENT_AFTER_MS).silent).toBe(true);
  filled(w, 40_000, 1, 0);
  expect(w.read(40_000).consecutiveFailures).toBe(0);
});

test('buckets expire by the time that passed, one after the other', () => {
  const w = filled(new SlidingWindow(), 0, 3, 0);
  filled(w, BUCKET_MS, 0, 4);
  expect(w.read(WINDOW_MS - 1).samples).toBe(7);
  expect(w.read(WINDOW_MS)).toMatchObject({ samples: 4, successRate: 0 });
  expect(w.read(WINDOW_MS + BUCKET_MS)).toMatchObject(EMPTY);
});

const sample = fc.record({
  afterMs: fc.integer({ min: 0, max: 60_000 }),
  ok: fc.boolean(),
  latencyMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
});

test('a window that was idle for an hour is empty, whatever was in it, and begins anew', () => {
  fc.assert(
    fc.property(fc.array(sample), fc.integer({ min: 0, max: 1e10 }), (samples, startMs) => {
      const w = new SlidingWindow();
      let now = startMs;
      for (const { afterMs, ...s } of samples) w.record((now += afterMs), s);
      now += 3_600_000;
      expect(w.read(now)).toEqual({ ...EMPTY, lastActivityMs: undefined, silent: true });
      w.record(now, { ok: true, latencyMs: 7 });
      expect(w.read(now)).toMatchObject({ samples: 1, successRate: 1, consecutiveFailures: 0 });
      expect(w.read(now).p95Ms).toBeCloseTo(7, 0);
    }),
  );
});

test('the counts are those of a plain list, at any time', () => {
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 60 }), (samples) => {
      const w = new SlidingWindow();
      const all: { bucket: number; ok: boolean }[] = [];
      let now = 0;
      for (const { afterMs, ...s } of samples) {
        w.record((now += afterMs), s);
        all.push({ bucket: Math.floor(now / BUCKET_MS), ok: s.ok });
        const live = all.filter((r) => r.bucket > Math.floor(now / BUCKET_MS) - BUCKETS);
        const view = w.read(now);
        expect(view.samples).toBe(live.length);
        const failed = live.filter((r) => !r.ok);
        expect(view.successRate === 0).toBe(failed.length === live.length);
        // Failures of an outage that ended long ago are forgiven to less than a double can tell from none.
        const failedAt = Math.max(...failed.map((r) => r.bucket));
        const shows = failed.length > 0 && Math.floor(now / BUCKET_MS) - failedAt <= FORGOTTEN;
        if (failed.length === 0) expect(view.successRate).toBe(1);
        else if (shows) expect(view.successRate).toBeLessThan(1);
      }
    }),
  );
});

test('P50 and P95 are right to a few percent, and those of what is recent', () => {
  const w = new SlidingWindow();
  for (let i = 1; i <= 1000; i++) w.record(0, { ok: true, latencyMs: i });
  expect(w.read(0).p50Ms).toBeGreaterThan(480);
  expect(w.read(0).p50Ms).toBeLessThan(520);
  expect(w.read(0).p95Ms).toBeGreaterThan(920);
  expect(w.read(0).p95Ms).toBeLessThan(980);
  // As many quick ones 5 minutes later outweigh the slow ones, which weigh a fifth by then.
  for (let i = 1; i <= 1000; i++) w.record(WINDOW_MS / 2, { ok: true, latencyMs: 5 });
  expect(w.read(WINDOW_MS / 2).p50Ms).toBeCloseTo(5, 0);
  // After ten minutes nothing is left of them.
  w.record(WINDOW_MS, { ok: true, latencyMs: 5 });
  expect(w.read(WINDOW_MS).p95Ms).toBeLessThan(6);
});

test('it goes on for weeks', () => {
  const w = new SlidingWindow();
  for (let now = 0; now < 14 * 86_400_000; now += 30_000) w.record(now, { ok: true, latencyMs: 20 });
  const view = w.read(14 * 86_400_000);
  expect(view.p50Ms).toBeCloseTo(20, -1);
  expect(view.samples).toBeGreaterThanOrEqual(19);
});

test('latencies are known at any moment of a day, the end of an epoch of their weights among them', () => {
  const w = new SlidingWindow();
  for (let now = 0; now < 86_400_000; now += 4000) {
    if (now > 0) expect(w.read(now).p95Ms).toBeCloseTo(20, -1);
    w.record(now, { ok: true, latencyMs: 20 });
  }
});

test('a late record is counted where it belongs, and does not speak of now', () => {
  const w = filled(new SlidingWindow(), 50_000, 1, 0);
  w.record(20_000, { ok: false });
  expect(w.read(50_000)).toMatchObject({ samples: 2, consecutiveFailures: 0, lastActivityMs: 50_000 });
  w.record(50_000 - 2 * WINDOW_MS, { ok: false });
  expect(w.read(50_000).samples).toBe(2);
});

test('an outage that ended is soon outweighed, one that comes again is not forgiven', () => {
  const w = new SlidingWindow();
  let now = 0;
  const run = (buckets: number, ok: boolean) => {
    for (const end = now + buckets * BUCKET_MS; now < end; now += 1000) w.record(now, { ok, latencyMs: 1 });
    return w.read(now - 1).successRate ?? -1;
  };
  run(30, true);
  expect(run(30, false)).toBeLessThan(0.3);
  expect(run(1, true)).toBeLessThan(0.6);
  expect(run(2, true)).toBeGreaterThan(0.9);
  expect(run(1, false)).toBeLessThan(0.5);
});

test('a few scattered failures are not an outage: they only decay', () => {
  const w = new SlidingWindow();
  for (let i = 0; i < 30; i++) filled(w, i * BUCKET_MS, 9, 1);
  expect(w.read(29 * BUCKET_MS).successRate).toBeCloseTo(0.9, 6);
});

test('windows can be pooled: the group’s P95 is that of all their latencies', () => {
  const pool = newSketch();
  // One has been written to for long, the other has just begun: their samples weigh alike.
  const old = new SlidingWindow();
  for (let i = 0; i < 500; i++) old.record(i * BUCKET_MS, { ok: true, latencyMs: 100 });
  const now = 499 * BUCKET_MS;
  const young = filled(new SlidingWindow(), now, 400, 0, 10);
  old.addLatenciesTo(pool, now);
  young.addLatenciesTo(pool, now);
  new SlidingWindow().addLatenciesTo(pool, now);
  expect(pool.getValueAtQuantile(0.5)).toBeCloseTo(10, 0);
  expect(pool.getValueAtQuantile(0.99)).toBeGreaterThan(90);
});
