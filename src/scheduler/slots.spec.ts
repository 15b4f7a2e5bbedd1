import type { Coordinator } from '../platform/coordination/coordinator.js';
import { LocalCoordinator } from '../platform/coordination/local.js';
import type { Sql } from '../platform/postgres/sql.js';
import type { ReachEntry, ReachTable } from '../registry/reach-table.js';
import { Slots } from './slots.js';

/* A coordinator that forgets everything while offers are being committed, which the ledger does not show yet. */

const SETTLES_MS = 500;
const SLOTS = 2;

describe('slots that get lost', () => {
  let coordinator: LocalCoordinator;
  let slots: Slots;
  let entry: ReachEntry;

  beforeEach(() => {
    coordinator = new LocalCoordinator({ clock: () => performance.now() });
    const current = new Proxy({} as Coordinator, {
      get: (_, name) => {
        const value: unknown = Reflect.get(coordinator, name);
        return typeof value === 'function' ? value.bind(coordinator) : value;
      },
    });
    const nothingHeld = { run: async () => ({ rows: [] }) } as unknown as Sql;
    slots = new Slots(current, { get: () => entry } as unknown as ReachTable, nothingHeld);
    entry = newEntry();
  });

  const lose = async (): Promise<void> => {
    await coordinator.close();
    coordinator = new LocalCoordinator({ clock: () => performance.now() });
  };
  afterEach(() => coordinator.close());

  it('are seeded at once where they never were', async () => {
    expect(await slots.reserve(entry, ['t1.1', 't2.1', 't3.1'], SLOTS)).toBe(2);
  });

  it('are not given out anew before what was reserved can have been committed', async () => {
    expect(await slots.reserve(entry, ['t1.1', 't2.1'], SLOTS)).toBe(2);
    const lostAt = performance.now();
    await lose();
    expect(await slots.reserve(entry, ['t3.1'], SLOTS)).toBe(0);
    let tries = 0;
    while ((await slots.reserve(entry, ['t3.1'], SLOTS)) === 0) {
      tries += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(performance.now() - lostAt).toBeGreaterThanOrEqual(SETTLES_MS);
    expect(tries).toBeGreaterThan(5);
  });

  it('are asked for again by a pass that takes long, and it may not commit without them', async () => {
    const choices = [{ entry, deliveryId: 't1.1', slots: SLOTS }];
    const longAgo = performance.now() - SETTLES_MS;
    await slots.reserve(entry, ['t1.1'], SLOTS);
    expect(await slots.stand(choices, performance.now())).toBe(true);
    expect(await slots.stand(choices, longAgo)).toBe(true);
    await lose();
    expect(await slots.stand(choices, longAgo)).toBe(false);
  });

  it('are as many as the caller may have, be there more', async () => {
    expect(await slots.reserve(entry, ['t1.1', 't2.1'], 1)).toBe(1);
    expect(await slots.reserve(entry, ['t2.1'], SLOTS)).toBe(1);
  });

  it('take no second slot when they are asked for again', async () => {
    await slots.reserve(entry, ['t1.1'], SLOTS);
    await slots.stand([{ entry, deliveryId: 't1.1', slots: SLOTS }], performance.now() - SETTLES_MS);
    expect(await slots.reserve(entry, ['t2.1', 't3.1'], SLOTS)).toBe(1);
  });
});

function newEntry(): ReachEntry {
  const fields = { key: 'ns\u0000a1', namespace: 'ns', agentId: 'a1', maxConcurrency: 2 };
  return { ...fields, held: new Set<string>(), fullUntil: 0, slotSet: 'new' } as unknown as ReachEntry;
}
