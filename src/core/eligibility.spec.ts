import { explainShortage, isVersionRange, rejectionOf, type Candidate } from './eligibility.js';
import type { Requirement } from './lane.js';

const agent = (over: Partial<Candidate> = {}): Candidate => ({
  agentId: 'a1',
  name: 'group',
  namespace: 'default',
  capabilities: new Map([['summarize', '2.1.0']]),
  tags: ['production'],
  zone: 'eu',
  state: 'online',
  stateReason: 'heartbeat fresh',
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
  ['suspicious', agent({ state: 'suspicious' }), need(), 'state'],
  ['offline', agent({ state: 'offline' }), need(), 'state'],
  ['removing', agent({ state: 'removing' }), need(), 'state'],
  ['busy', agent({ inFlight: 2 }), need(), 'capacity'],
  ['the wrong agent counts before a busy one', agent({ inFlight: 2 }), need({ zone: 'us' }), 'zone'],
])('%s', (_name, candidate, requirement, filter) => {
  expect(rejectionOf(candidate, requirement)?.filter).toBe(filter);
});

test('a shortage names the most hopeful kind', () => {
  const offline = agent({ agentId: 'off', state: 'offline', stateReason: 'lease expired' });
  const busy = agent({ agentId: 'busy', inFlight: 2 });
  expect(explainShortage([], need()).kind).toBe('no_capable');
  expect(explainShortage([offline], need())).toEqual({
    kind: 'no_reachable',
    rejections: [{ agentId: 'off', filter: 'state', reason: 'offline: lease expired' }],
  });
  expect(explainShortage([offline, busy], need()).kind).toBe('busy');
  expect(explainShortage([busy, offline], need()).kind).toBe('busy');
});

test('a candidate that looks free and took nothing was busy through another dispatcher', () => {
  expect(explainShortage([agent({ agentId: 'a1', inFlight: 0 })], need())).toMatchObject({
    kind: 'busy',
    rejections: [{ agentId: 'a1', filter: 'capacity' }],
  });
});

test('a shortage names at most as many candidates as asked', () => {
  const many = Array.from({ length: 50 }, (_, i) => agent({ agentId: `a${i}`, state: 'offline' }));
  expect(explainShortage(many, need(), 3).rejections).toHaveLength(3);
});

test('ranges are told from nonsense', () => {
  expect(isVersionRange('^1.2 || >=3')).toBe(true);
  expect(isVersionRange('newest')).toBe(false);
});
