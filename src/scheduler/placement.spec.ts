import type { AgentState } from '../core/agent-state.js';
import type { ReachEntry, ReachTable } from '../registry/reach-table.js';
import { Choices } from './choices.js';
import { Placement } from './placement.js';
import type { PickedTask, PlacementStore } from './placement.store.js';

const REQUIREMENT = { namespace: 'default', capabilities: [{ name: 'work' }] };

/** A placement whose one agent is as `meanwhile` leaves it once the head of the lane is locked. */
async function placeWith(meanwhile: AgentState): Promise<string[]> {
  const entry = {
    agentId: 'a1',
    leaseId: 'l1',
    state: 'online',
    maxConcurrency: 1,
    held: new Set(),
    weight: 1,
  };
  Object.defineProperty(entry, 'inFlight', { get: () => entry.held.size });
  const table = { eligible: () => (entry.state === 'online' ? [entry as unknown as ReachEntry] : []) };
  const reserved: string[] = [];
  const store = {
    withHead: (_lane: string, work: (head: object) => Promise<unknown>) =>
      work({
        pick: async () => {
          entry.state = meanwhile;
          return [{ id: 't1', fence: 0, tried: [], affinity_key: null } as unknown as PickedTask];
        },
        offer: () => Promise.reject(new Error('offered')),
      }),
  };
  const slots = {
    reserve: async (_: ReachEntry, ids: string[]) => {
      reserved.push(...ids);
      return ids.length;
    },
    release: () => undefined,
  };
  const placement = new Placement(
    table as unknown as ReachTable,
    { blocking: () => undefined } as never,
    new Choices(slots as never, { transportFor: () => 'pull' } as never),
    store as unknown as PlacementStore,
    {} as never,
    {} as never,
    {} as never,
    {} as never,
    {} as never,
  );
  await placement.place('lane', REQUIREMENT).catch(() => undefined);
  return reserved;
}

it('offers nothing to an agent that was lost while the lane was being locked', async () => {
  expect(await placeWith('online')).toEqual(['t1.1']);
  expect(await placeWith('offline')).toEqual([]);
  expect(await placeWith('suspicious')).toEqual([]);
});
