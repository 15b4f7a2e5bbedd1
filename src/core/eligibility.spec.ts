import fc from 'fast-check';
import {
  eligibleOf,
  explainShortage,
  isUsable,
  isVersionRange,
  rejectionOf,
  sampleEligible,
  type Candidate,
} from './eligibility.js';
import type { Requirement } from './lane.js';
import { seeded } from './random.js';

const agent = (over: Partial<Candidate> = {}): Candidate => ({
  agentId: 'a1',
  name: 'group',
  namespace: 'default',
  capabilities: new Map([['summarize', '2.1.0']]),
  tags: ['production'],
  zone: 'eu',
  endpoint: undefined,
  state: 'online',
  stateReason: 'heartbeat fresh',
  criticalDown: undefined,
  warmingUp: undefined,
  ejected: undefined,
  throttled: false,
  allowed: 2,
  hold: undefined,
  maxConcurrency: 2,
  inFlight: 0,
  weight: 100,
  ...over,
});
const need = (over: Partial<Requirement> = {}): Requirement => ({
  namespace: 'default',
  capabilities: [{ name: 'summarize' }],
  ...over,
});

test.each<[string, Candidate, Requirement, string | undefined]>([
  ['fits', agent(), need(), undefined],
  ['degraded still works', agent({ state: 'degraded' }), need(), undefined],
  ['namespace', agent({ namespace: 'other' }), need(), 'namespace'],
  ['agent address', agent(), need({ agentId: 'a2' }), 'address'],
  ['name address', agent(), need({ name: 'elsewhere' }), 'address'],
  [
    'capability',
    agent(),
    need({ capabilities: [{ name: 'summarize' }, { name: 'translate' }] }),
    'capability',
  ],
  [
    'version in the reference',
    agent(),
    need({ capabilities: [{ name: 'summarize', version: '^3' }] }),
    'version',
  ],
  ['version in the constraints', agent(), need({ version: '>=2.2' }), 'version'],
  ['version satisfied', agent(), need({ version: '^2.1' }), undefined],
  [
    'short version',
    agent({ capabilities: new Map([['summarize', '2']]) }),
    need({ version: '^2' }),
    undefined,
  ],
  [
    'no version declared',
    agent({ capabilities: new Map([['summarize', undefined]]) }),
    need({ version: '*' }),
    'version',
  ],
  ['tags', agent(), need({ tags: ['production', 'gpu'] }), 'tags'],
  ['zone', agent(), need({ zone: 'us' }), 'zone'],
  ['no zone', agent({ zone: undefined }), need({ zone: 'us' }), 'zone'],
  ['excluded', agent(), need({ exclude: ['a1'] }), 'excluded'],
  ['call chain', agent(), need({ spent: ['a1'] }), 'call_chain'],
  ['nowhere to call it', agent(), need({ direct: true }), 'endpoint'],
  ['called at its endpoint', agent({ endpoint: 'http://a1' }), need({ direct: true }), undefined],
  ['suspicious', agent({ state: 'suspicious' }), need(), 'state'],
  ['offline', agent({ state: 'offline' }), need(), 'state'],
  ['removing', agent({ state: 'removing' }), need(), 'state'],
  ['held', agent({ hold: '' }), need(), 'held'],
  ['critical dependency', agent({ criticalDown: 'db (refused)' }), need(), 'critical_dependency'],
  ['ejected', agent({ ejected: '4 calls running failed', allowed: 0 }), need(), 'breaker'],
  ['throttled, with room', agent({ throttled: true, allowed: 1 }), need(), undefined],
  ['throttled, without', agent({ throttled: true, allowed: 1, inFlight: 1 }), need(), 'capacity'],
  ['warming up', agent({ warmingUp: '3 of 50 probes good' }), need(), 'warm_up'],
  ['busy', agent({ inFlight: 2 }), need(), 'capacity'],
  ['the wrong agent counts before a busy one', agent({ inFlight: 2 }), need({ zone: 'us' }), 'zone'],
])('%s', (_name, candidate, requirement, filter) => {
  expect(rejectionOf(candidate, requirement)?.filter).toBe(filter);
});

test('a shortage names the most hopeful kind', () => {
  const offline = agent({ agentId: 'off', state: 'offline', stateReason: 'lease expired' });
  const busy = agent({ agentId: 'busy', inFlight: 2 });
  expect(explainShortage([], need(), true).kind).toBe('no_capable');
  expect(explainShortage([offline], need(), true)).toEqual({
    kind: 'no_reachable',
    rejections: [{ agentId: 'off', filter: 'state', reason: 'offline: lease expired' }],
  });
  expect(explainShortage([offline, busy], need(), true).kind).toBe('busy');
  expect(explainShortage([busy, offline], need(), true).kind).toBe('busy');
});

test('a candidate that looks free and took nothing was busy through another dispatcher', () => {
  expect(explainShortage([agent({ agentId: 'a1', inFlight: 0 })], need(), true)).toMatchObject({
    kind: 'busy',
    rejections: [{ agentId: 'a1', filter: 'capacity' }],
  });
});

test('a shortage names at most as many candidates as asked', () => {
  const many = Array.from({ length: 50 }, (_, i) => agent({ agentId: `a${i}`, state: 'offline' }));
  expect(explainShortage(many, need(), true, 3).rejections).toHaveLength(3);
});

test('ranges are told from nonsense', () => {
  expect(isVersionRange('^1.2 || >=3')).toBe(true);
  expect(isVersionRange('newest')).toBe(false);
});

test('a rejection tells the figures', () => {
  const reasonOf = (over: Partial<Candidate>) => rejectionOf(agent(over), need())?.reason;
  expect(reasonOf({ hold: 'new disk' })).toBe('held by an operator: new disk');
  expect(reasonOf({ hold: '' })).toBe('held by an operator');
  expect(reasonOf({ criticalDown: 'db (refused, 3 failures running)' })).toBe(
    'critical dependency down: db (refused, 3 failures running)',
  );
  expect(reasonOf({ ejected: '4 calls running failed; it is tried again in 12 s' })).toBe(
    'ejected by its breaker: 4 calls running failed; it is tried again in 12 s',
  );
  expect(reasonOf({ inFlight: 2 })).toBe('busy: 2 of 2 slots in use');
  expect(reasonOf({ throttled: true, allowed: 1, inFlight: 1 })).toBe(
    'recovering: 1 slots in use, it may use 1 of its 2 for now',
  );
  expect(reasonOf({ warmingUp: '3 of 50 probes good' })).toBe('warming up: 3 of 50 probes good');
});

describe('the gate of the warm-up', () => {
  const cold = agent({ agentId: 'cold', warmingUp: '3 of 50 probes good' });
  const idsOf = (candidates: Candidate[]) =>
    eligibleOf(candidates, need(), true).agents.map((c) => c.agentId);

  test('is shut where a warm agent could take the task, be it busy', () => {
    expect(idsOf([cold, agent()])).toEqual(['a1']);
    expect(idsOf([cold, agent({ inFlight: 2 })])).toEqual([]);
    expect(isUsable(cold, need())).toBe(true);
  });

  test.each<[string, Partial<Candidate>]>([
    ['offers something else', { capabilities: new Map() }],
    ['is not reachable', { state: 'suspicious' }],
    ['is held', { hold: '' }],
    ['lost a critical dependency', { criticalDown: 'db' }],
    ['is cold too', { warmingUp: '7 of 50 probes good' }],
  ])('stands open where the other one %s', (_name, over) => {
    expect(idsOf([agent(over), cold])).toContain('cold');
  });

  test('open or not, a busy agent gets nothing', () => {
    expect(idsOf([{ ...cold, inFlight: 2 }])).toEqual([]);
  });

  test('a shortage says that an agent is cold only where that is why', () => {
    expect(explainShortage([cold, agent({ inFlight: 2 })], need(), true)).toMatchObject({
      kind: 'busy',
      rejections: [{ filter: 'warm_up' }, { filter: 'capacity' }],
    });
    expect(explainShortage([{ ...cold, inFlight: 2 }], need(), true).rejections).toMatchObject([
      { filter: 'capacity' },
    ]);
    expect(explainShortage([agent({ criticalDown: 'db' })], need(), true).kind).toBe('no_reachable');
  });
});

describe('panic', () => {
  const good = agent({ agentId: 'good' });
  const ejected = agent({ agentId: 'ejected', ejected: '4 calls running failed', allowed: 0 });
  const back = agent({ agentId: 'back', throttled: true, allowed: 1 });
  const full = { ...back, agentId: 'full', inFlight: 1 };
  const cold = agent({ agentId: 'cold', warmingUp: '3 of 50 probes good' });
  const ids = (candidates: Candidate[], allowed = true) => {
    const { agents, panic } = eligibleOf(candidates, need(), allowed);
    return [panic, ...agents.map((c) => c.agentId)];
  };

  test.each<[string, Candidate[], (string | boolean)[]]>([
    ['one in good standing: breakers hold', [good, ejected, back], [false, 'good', 'back']],
    ['be it busy', [{ ...good, inFlight: 2 }, ejected, full], [false]],
    ['a cold one beats those that fail', [cold, ejected], [false, 'cold']],
    ['all ejected', [ejected], [true, 'ejected']],
    ['all ejected or coming back: breakers limit nobody', [ejected, full], [true, 'ejected', 'full']],
    ['and a full one is full', [{ ...ejected, inFlight: 2 }], [true]],
  ])('%s', (_what, candidates, expected) => {
    expect(ids(candidates)).toEqual(expected);
  });

  test('where the policy forbids it breakers hold', () => {
    expect(ids([ejected, full], false)).toEqual([false]);
    expect(ids([ejected, back], false)).toEqual([false, 'back']);
    expect(explainShortage([ejected], need(), false)).toEqual({
      kind: 'no_reachable',
      rejections: [
        { agentId: 'ejected', filter: 'breaker', reason: 'ejected by its breaker: 4 calls running failed' },
      ],
    });
    expect(explainShortage([{ ...ejected, inFlight: 2 }], need(), true).kind).toBe('busy');
  });
});

describe('a sample', () => {
  test('is of those that may take the task, each once, as many as wanted or none', () => {
    const kind = fc.constantFrom<Partial<Candidate>>(
      {},
      { inFlight: 2 },
      { state: 'offline' },
      { throttled: true, allowed: 1 },
      { ejected: 'it fails', allowed: 0 },
      { warmingUp: '3 of 50 probes good' },
    );
    fc.assert(
      fc.property(
        fc.array(kind, { maxLength: 200 }),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(),
        (kinds, n, seed) => {
          const fleet = kinds.map((over, i) => agent({ agentId: `a${i}`, ...over }));
          const all = eligibleOf(fleet, need(), true);
          const sample = sampleEligible(fleet, need(), n, seeded(seed));
          if (sample === undefined) return;
          expect(all.panic).toBe(false);
          expect(new Set(sample.agents).size).toBe(n);
          for (const one of sample.agents) expect(all.agents).toContain(one);
        },
      ),
    );
  });

  test('is found where most can take it, from a look at few, and draws all alike', () => {
    const fleet = Array.from({ length: 1000 }, (_, i) =>
      agent({ agentId: `a${i}`, inFlight: i % 2 === 0 ? 2 : 0 }),
    );
    const counts = new Map<string, number>();
    let looks = 0;
    const candidates = { length: fleet.length, at: (i: number) => (looks++, fleet[i]) };
    for (let seed = 0; seed < 2000; seed++)
      for (const { agentId } of sampleEligible(candidates, need(), 10, seeded(seed))?.agents ?? [])
        counts.set(agentId, (counts.get(agentId) ?? 0) + 1);
    expect(looks / 2000).toBeLessThan(25);
    expect(counts.size).toBe(500);
    for (const count of counts.values()) expect(count).toBeLessThan(80);
  });

  test('is not enough where hardly anybody can, or only those that are coming back', () => {
    const fleet = Array.from({ length: 1000 }, (_, i) =>
      agent({ agentId: `a${i}`, inFlight: i < 995 ? 2 : 0 }),
    );
    expect(sampleEligible(fleet, need(), 10, seeded(1))).toBeUndefined();
    const back = fleet.map((c) => ({ ...c, inFlight: 0, throttled: true, allowed: 1 }));
    expect(sampleEligible(back, need(), 10, seeded(1))).toBeUndefined();
  });
});
