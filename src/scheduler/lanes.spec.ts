import { laneOf } from '../core/lane.js';
import type { RegistryEvents } from '../registry/registry.events.js';
import { Lanes } from './lanes.js';
import type { Placement } from './placement.js';

const LANE = laneOf({ namespace: 'default', capabilities: [{ name: 'work' }] });

test('however many timers wake a lane in one turn, it is looked at once or twice, and the next wake-up counts', async () => {
  let passes = 0;
  const placement = {
    place: () => {
      passes++;
      return Promise.resolve({ placed: 0, left: true });
    },
  } as unknown as Placement;
  const lanes = new Lanes(placement, { listen: () => undefined } as unknown as RegistryEvents);
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 300; i++) setTimeout(() => lanes.wake(LANE), 1);
    setTimeout(resolve, 1);
  });
  await lanes.place(LANE);
  expect(passes).toBeGreaterThan(0);
  // Timers of one phase may fall into two turns.
  expect(passes).toBeLessThanOrEqual(4);
  const before = passes;
  await lanes.place(LANE);
  expect(passes).toBe(before + 1);
  await lanes.stop();
});
