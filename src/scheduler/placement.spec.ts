import type { AgentState } from '../core/agent-state.js';
import { Breaker } from '../core/breaker.js';
import { DEFAULT_POLICY } from '../core/policy.js';
import type { ReachEntry, ReachTable } from '../registry/reach-table.js';
import { Choices } from './choices.js';
import { Placement } from './placement.js';
import type { PickedTask, PlacementStore } from './placement.store.js';
import { Standings } from './standings.js';

const REQUIREMENT = { namespace: 'default', capabilities: [{ name: 'work' }] };

const POLICIES = { for: () => ({ policy: DEFAULT_POLICY, digest: '' }) };

/** A placement whose one agent is as `meanwhile` leaves it once the head of the lane is locked. */
async function placeWith(meanwhile: AgentState): Promise<string[]> {
  const entry = {
    agentId: 'a1',
    leaseId: 'l1',
    state: 'online',
    maxConcurrency: 1,
    allowed: 1,
    breaker: new Breaker(DEFAULT_POLICY.breaker),
    held: new Set(),
    weight: 1,
  };
  Object.defineProperty(entry, 'inFlight', { get: () => entry.held.size });
  const table = {
    eligible: () => ({
      agents: entry.state === 'online' ? [entry as unknown as ReachEntry] : [],
      panic: false,
      rejected: { counts: {}, named: [] },
    }),
  };
  const reserved: string[] = [];
  const store = {
    withHead: (_lane: string, work: (head: object) => Promise<unknown>) =>
      work({
        pick: async () => {
          entry.state = meanwhile;
          return [
            { id: 't1', fence: 0, tried: [], affinity_key: null, own_timeout: true } as unknown as PickedTask,
          ];
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
    POLICIES as never,
    new Choices(
      slots as never,
      { transportFor: () => 'pull' } as never,
      POLICIES as never,
      new Standings({ workFor: () => undefined } as never),
    ),
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
