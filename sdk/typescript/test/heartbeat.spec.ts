import { Heartbeat } from '../src/heartbeat.js';

function beatsOf(beat: (n: number) => Promise<unknown>, late: (ms: number) => void = () => undefined) {
  let beats = 0;
  let wake: (() => void) | undefined;
  const errors: unknown[] = [];
  const heartbeat = new Heartbeat({
    beat: () => {
      beats += 1;
      wake?.();
      return beat(beats);
    },
    late,
    error: (error) => errors.push(error),
  });
  const until = async (n: number) => {
    while (beats < n) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { heartbeat, until, errors, beats: () => beats };
}

it('goes on beating when a beat fails, or throws before it returns', async () => {
  const { heartbeat, until, errors } = beatsOf((n) => {
    if (n === 1) throw new Error('thrown');
    return n === 2 ? Promise.reject(new Error('rejected')) : Promise.resolve();
  });
  heartbeat.start(10);
  await until(4);
  heartbeat.stop();
  expect(errors).toEqual([new Error('thrown'), new Error('rejected')]);
});

it('does not let a beat that hangs stop the next ones for long', async () => {
  const { heartbeat, until } = beatsOf((n) => (n === 1 ? new Promise(() => undefined) : Promise.resolve()));
  heartbeat.start(10);
  await until(1);
  // The loop is alive but its beat hangs; a stalled event loop makes the watchdog free it.
  const end = performance.now() + 60;
  while (performance.now() < end);
  await until(2);
  heartbeat.stop();
});

it('reports that it was late', async () => {
  const lates: number[] = [];
  const { heartbeat, until } = beatsOf(
    () => Promise.resolve(),
    (ms) => lates.push(ms),
  );
  heartbeat.start(10);
  await until(1);
  const end = performance.now() + 80;
  while (performance.now() < end);
  await until(3);
  heartbeat.stop();
  expect(Math.max(...lates)).toBeGreaterThan(40);
});
