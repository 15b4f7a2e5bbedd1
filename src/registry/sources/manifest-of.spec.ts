import { registrationOf } from './manifest-of.js';
import type { SourceInstance } from './registry-source.js';

const instance = (meta: Record<string, string>, more: Partial<SourceInstance> = {}): SourceInstance => ({
  service: 'summarizer',
  id: 's1 of summarizer at node n',
  host: '10.0.0.7',
  port: 8080,
  healthy: true,
  tags: [],
  meta,
  ...more,
});

test('an instance that says nothing is an agent that does what its service is called', () => {
  expect(registrationOf(instance({ unrelated: 'x' }), 'team')).toMatchObject({
    namespace: 'team',
    agent_id: 'summarizer-10.0.0.7-8080',
    name: 'summarizer',
    capabilities: [{ name: 'summarizer' }],
    transport: 'push',
    endpoint: 'http://10.0.0.7:8080/',
    max_concurrency: 1,
    dependencies: [],
  });
});

test('everything that it may say is taken over', () => {
  const body = registrationOf(
    instance(
      {
        reach_agent_id: 'sum-1',
        reach_name: 'sum',
        reach_capabilities: 'a.b@2.1, c.d ,',
        reach_dependencies: '[{"name":"db","type":"tcp","target":"db:5432","critical":true}]',
        reach_scheme: 'https',
        reach_path: 'agents/x',
        reach_max_concurrency: '8',
        reach_weight: '50',
        reach_tags: 'gpu,eu',
        reach_features: 'echo',
        reach_zone: 'eu-1',
        reach_version: '7',
      },
      { host: '2001:db8::1' },
    ),
    'default',
  );
  expect(body).toMatchObject({
    agent_id: 'sum-1',
    name: 'sum',
    capabilities: [{ name: 'a.b', version: '2.1' }, { name: 'c.d' }],
    dependencies: [{ name: 'db', type: 'tcp', target: 'db:5432', critical: true }],
    endpoint: 'https://[2001:db8::1]:8080/agents/x',
    max_concurrency: 8,
    weight: 50,
    tags: ['gpu', 'eu'],
    features: ['echo'],
    metadata: { service: 'summarizer', zone: 'eu-1', version: '7' },
  });
});

test.each([
  [{ reach_agent_id: 'a\u0000b' }, '/agent_id: agent_id must not contain control characters'],
  [{ reach_max_concurrency: 'many' }, '/max_concurrency: '],
  [{ reach_max_concurrency: '1e9' }, '/max_concurrency: '],
  [{ reach_scheme: 'file' }, '/endpoint: '],
  [{ reach_dependencies: '{' }, 'reach_dependencies is no JSON: '],
  [{ reach_dependencies: '[{"type":"nothing"}]' }, '/dependencies/0/'],
  [{ reach_capabilities: 'a b' }, '/capabilities/0: '],
  [{ reach_capabilities: ',' }, '/capabilities: '],
  [{ reach_capabilites: 'x' }, 'which means nothing; did you mean reach_capabilities?'],
])('%j is refused by its place', (meta, why) => {
  expect(() => registrationOf(instance(meta as Record<string, string>), 'default')).toThrow(
    new RegExp(
      `^s1 of summarizer at node n cannot be taken over: .*${why.replace(/[/.*+?()[\]{}]/g, '\\$&')}`,
    ),
  );
});
