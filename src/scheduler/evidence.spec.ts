import { DEFAULT_POLICY } from '../core/policy.js';
import type { Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import type { AgentRow } from '../registry/agent-row.js';
import { ReachTable, type ReachEntry } from '../registry/reach-table.js';
import { RegistryEvents } from '../registry/registry.events.js';
import { Windows } from '../registry/windows.js';
import { Evidence, type Ended } from './evidence.js';

const { jest } = import.meta;
const { openMs, recoveryMs } = DEFAULT_POLICY.breaker;
const STRICT = { ...DEFAULT_POLICY, breaker: { ...DEFAULT_POLICY.breaker, running: 0 } };

function prepared() {
  const table = new ReachTable({ warmUpProbes: 0 } as Config);
  const windows = new Windows(table, new RegistryEvents());
  const woken: ReachEntry[] = [];
  const lanes = { wakeFor: (entry: ReachEntry) => void woken.push(entry) };
  const shutdown = new Shutdown({ shutdownGraceMs: 1000 });
  const policies = {
    ofKind: (namespace: string, kind: string) => ({ policy: kind === 'strict' ? STRICT : DEFAULT_POLICY }),
  };
  const evidence = new Evidence(table, windows, lanes as never, policies as never, shutdown);
  const row = {
    namespace: 'default',
    agent_id: 'a',
    capabilities: [{ name: 'work' }, { name: 'play' }, { name: 'strict' }],
    state: 'online',
    metadata: {},
    dependencies: [],
    facts: {},
    max_concurrency: 10,
    removed_at: null,
    rev: 1,
  };
  const entry = table.apply(row as unknown as AgentRow);
  if (entry === undefined) throw new Error('not in the table');
  const end = (over: Partial<Ended> = {}, times = 1) => {
    for (let i = 0; i < times; i++) evidence.ended({ key: entry.key, capability: 'work', ...over });
  };
  return { windows, woken, entry, end, shutdown };
}

const FAILED = { code: 'AGENT_ERROR', tookMs: 1 };

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('an agent that fails all is left alone, tried, let back in part, and then in full; lanes are woken each time', () => {
  const { woken, entry, end } = prepared();
  end(FAILED, 3);
  expect([entry.ejected, entry.throttled, entry.allowed]).toEqual([undefined, false, 10]);
  end(FAILED);
  expect(entry.ejected).toMatch(/^4 calls running failed/);
  expect([entry.throttled, entry.allowed]).toEqual([false, 0]);
  jest.advanceTimersByTime(openMs - 1);
  expect([entry.allowed, woken]).toEqual([0, []]);
  jest.advanceTimersByTime(1);
  expect([entry.ejected, entry.throttled, entry.allowed, woken]).toEqual([undefined, true, 3, [entry]]);
  end({ tookMs: 0 }, 3);
  expect([entry.throttled, entry.allowed]).toEqual([true, 2]);
  jest.advanceTimersByTime(recoveryMs);
  expect([entry.throttled, entry.allowed, woken.length]).toEqual([false, 10, 2]);
});

test.each<[string, Partial<Ended>]>([
  ['a failure that is not the agent’s', { code: 'CANCELED' }],
  ['a failure of a task that failed on two others before', { ...FAILED, elsewhere: 2 }],
])('%s is not held against it', (_what, ended) => {
  const { windows, entry, end } = prepared();
  end(ended, 20);
  expect(entry.ejected).toBeUndefined();
  expect(windows.read(entry.key).work).toBeUndefined();
});

test('a task that was tried elsewhere excuses nobody who did not even take it', () => {
  const { entry, end } = prepared();
  end({ code: 'ACK_TIMEOUT', elsewhere: 5 }, 4);
  expect(entry.ejected).toBeDefined();
});

test('an agent that is lost with ten tasks has failed once', () => {
  const { entry, end } = prepared();
  end({ code: 'AGENT_LOST', tookMs: 500 }, 10);
  expect(entry.ejected).toBeUndefined();
  expect(entry.breaker.sinceSeriousFailureMs(performance.now())).toBe(0);
});

test('what it did is known by capability', () => {
  const { windows, entry, end } = prepared();
  end({ tookMs: 100 }, 2);
  end({ capability: 'play', ...FAILED });
  expect(windows.workFor(entry.key, 'work')).toMatchObject({ samples: 2, successRate: 1 });
  expect(windows.workFor(entry.key, 'play')).toMatchObject({ samples: 1, successRate: 0 });
  expect(windows.workFor(entry.key, 'sleep')).toBeUndefined();
  expect(windows.read(entry.key).work).toMatchObject({ samples: 3 });
});

test('a read of what it did may be 100 ms old, 5 s where nothing came since', () => {
  const { windows, entry, end } = prepared();
  const samples = () => windows.workFor(entry.key, 'work')?.samples;
  end({ tookMs: 100 });
  expect(samples()).toBe(1);
  end({ tookMs: 100 });
  jest.advanceTimersByTime(99);
  expect(samples()).toBe(1);
  jest.advanceTimersByTime(1);
  expect(samples()).toBe(2);
  const before = windows.workFor(entry.key, 'work');
  jest.advanceTimersByTime(4999);
  expect(windows.workFor(entry.key, 'work')).toBe(before);
  jest.advanceTimersByTime(1);
  expect(windows.workFor(entry.key, 'work')).not.toBe(before);
});

test('no timer outlives a shutdown', async () => {
  const { woken, end, shutdown } = prepared();
  end(FAILED, 4);
  expect(jest.getTimerCount()).toBe(1);
  await shutdown.onModuleDestroy();
  expect(woken).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
});

test('each outcome is judged by the policy of its capability', () => {
  const { entry, end } = prepared();
  end(FAILED);
  expect(entry.ejected).toBeUndefined();
  end({ ...FAILED, capability: 'strict' });
  expect(entry.ejected).toMatch(/^2 calls running failed/);
});
