import type { Config } from '../platform/config/config.js';
import type { AgentRow } from './agent-row.js';
import { ReachTable } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';
import { Windows } from './windows.js';

const NOW = 1_000_000;

/** A table with agents of these capabilities, and windows over it. */
function prepared(agents: Record<string, { capabilities: string[]; cold?: boolean }>) {
  const table = new ReachTable({ warmUpProbes: 50 } as Config);
  const events = new RegistryEvents();
  const windows = new Windows(table, events);
  windows.onApplicationBootstrap();
  const rowOf = (id: string, rev: number, removed: boolean): AgentRow =>
    ({
      namespace: 'default',
      agent_id: id,
      name: id,
      capabilities: (agents[id]?.capabilities ?? []).map((name) => ({ name })),
      state: 'online',
      metadata: {},
      dependencies: [],
      facts: agents[id]?.cold === true ? { warmUp: { good: 0, totalMs: 0, passed: false } } : {},
      removed_at: removed ? new Date() : null,
      rev,
    }) as unknown as AgentRow;
  const entries = Object.keys(agents).map((id) => {
    const entry = table.apply(rowOf(id, 1, false));
    if (entry === undefined) throw new Error(id);
    return entry;
  });
  const remove = (id: string) => {
    const entry = table.apply(rowOf(id, 2, true));
    if (entry !== undefined) events.emit('changed', entry);
  };
  return { windows, entries, remove };
}

const probe = (windows: Windows, key: string, latencyMs: number, times = 20) => {
  for (let i = 0; i < times; i++) windows.probed(key, { ok: true, latencyMs }, NOW);
};

test('probes and work are kept apart, and failures that are not the agent’s do not count', () => {
  const { windows, entries } = prepared({ a: { capabilities: ['work'] } });
  const key = entries[0]?.key ?? '';
  probe(windows, key, 5, 3);
  windows.worked(key, 'work', undefined, 2000, NOW);
  windows.worked(key, 'work', 'AGENT_ERROR', 300, NOW);
  for (const code of ['CANCELED', 'AGENT_REFUSED', 'DELIVERY_SUPERSEDED', 'CONTRACT_MISMATCH'])
    windows.worked(key, 'work', code, undefined, NOW);
  const { probes, work } = windows.read(key, NOW);
  expect(probes).toMatchObject({ samples: 3, successRate: 1 });
  expect(work).toMatchObject({ samples: 2, successRate: 0.5, consecutiveFailures: 1 });
  expect(work?.p95Ms).toBeGreaterThan(1900);
});

test('a group is the warm agents that share a capability', () => {
  const { windows, entries } = prepared({
    warm: { capabilities: ['work'] },
    other: { capabilities: ['other'] },
    cold: { capabilities: ['work'], cold: true },
    new: { capabilities: ['work', 'other', 'unheard-of'], cold: true },
  });
  const [warm, other, cold, fresh] = entries;
  if (!warm || !other || !cold || !fresh) throw new Error('missing');
  expect(windows.groupP95Ms(fresh, NOW)).toBeUndefined();
  probe(windows, warm.key, 10);
  probe(windows, other.key, 40);
  probe(windows, cold.key, 900);
  expect(windows.groupP95Ms(fresh, NOW)).toBeUndefined(); // for five seconds
  const p95Ms = windows.groupP95Ms(fresh, NOW + 5_000);
  expect(p95Ms).toBeGreaterThan(38);
  expect(p95Ms).toBeLessThan(42);
});

test('what is not registered has no windows, and loses them with its row', () => {
  const { windows, entries, remove } = prepared({ a: { capabilities: ['work'] } });
  const key = entries[0]?.key ?? '';
  windows.probed('nobody', { ok: true }, NOW);
  expect(windows.read('nobody', NOW)).toEqual({ probes: undefined, work: undefined });
  windows.probed(key, { ok: true }, NOW);
  remove('a');
  expect(windows.read(key, NOW)).toEqual({ probes: undefined, work: undefined });
});

test('a call that was broken off belongs where it was slower than P95, and tells nothing below', () => {
  const { windows, entries } = prepared({ a: { capabilities: ['work'] } });
  const key = entries[0]?.key ?? '';
  const p95 = (nowMs: number) => windows.workFor(key, 'work', nowMs)?.p95Ms;
  const brokenOff = (afterMs: number, times: number, nowMs: number) => {
    for (let i = 0; i < times; i++) windows.worked(key, 'work', 'EXECUTION_TIMEOUT', afterMs, nowMs);
  };
  for (let i = 0; i < 90; i++) windows.worked(key, 'work', undefined, 1000, NOW);
  brokenOff(50, 90, NOW);
  expect(p95(NOW + 1000)).toBeLessThan(1100);
  expect(p95(NOW + 1000)).toBeGreaterThan(900);
  // One in ten takes longer than its timeout: it is P95 that is too short.
  brokenOff(1500, 10, NOW + 2000);
  expect(p95(NOW + 3000)).toBeGreaterThan(1400);
  expect(windows.workFor(key, 'work', NOW + 3000)).toMatchObject({ samples: 190, succeeded: 90 });
});
