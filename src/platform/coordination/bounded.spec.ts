import { bounded } from './bounded.js';

describe('bounded', () => {
  const late = () => new Error('late');

  test('passes on what comes in time', async () => {
    await expect(bounded(Promise.resolve(1), 1_000, late)).resolves.toBe(1);
    await expect(bounded(Promise.reject(new Error('no')), 1_000, late)).rejects.toThrow('no');
  });

  test('gives up when time is over', async () => {
    await expect(bounded(new Promise(() => undefined), 5, late)).rejects.toThrow('late');
  });

  test('an answer that lies ready counts, although this process was too busy to read it', async () => {
    const answer = new Promise((resolve) => setImmediate(resolve, 'here'));
    const waiting = bounded(answer, 5, late);
    const busyUntilMs = performance.now() + 30;
    while (performance.now() < busyUntilMs);
    await expect(waiting).resolves.toBe('here');
  });
});
