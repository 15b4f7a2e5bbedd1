import { noteBroken } from './note-broken.js';

/** A ledger that is away for the first calls. */
function ledger(away: number) {
  let calls = 0;
  const pauses: number[] = [];
  return {
    note: () => (calls++ < away ? Promise.reject(new Error('the database is away')) : Promise.resolve()),
    pause: (ms: number) => Promise.resolve(void pauses.push(ms)),
    calls: () => calls,
    pauses,
  };
}
const never = () => false;

test('what is taken at once is noted once', async () => {
  const it = ledger(0);
  await noteBroken(it.note, never, it.pause);
  expect(it.calls()).toBe(1);
  expect(it.pauses).toEqual([]);
});

test('what was not taken is noted again, later and later, and given up in the end', async () => {
  const short = ledger(2);
  await noteBroken(short.note, never, short.pause);
  expect(short.pauses).toEqual([250, 500]);
  const long = ledger(Infinity);
  await expect(noteBroken(long.note, never, long.pause)).rejects.toThrow('the database is away');
  expect(long.calls()).toBe(6);
});

test('an agent that is back meanwhile is not noted as broken', async () => {
  const it = ledger(1);
  await noteBroken(it.note, () => true, it.pause);
  expect(it.calls()).toBe(1);
});
