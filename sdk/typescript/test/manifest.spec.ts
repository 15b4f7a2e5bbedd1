import { ManifestError, parseManifest } from '../src/manifest.js';

const GOOD = `
agent_id: summarizer-1
name: summarizer
capabilities:
  - document.summarize
  - name: document.translate
    version: 2.1.0
    fallbacks: [document.summarize]
dependencies:
  - { name: store, type: http, target: http://127.0.0.1:1/, critical: true, timeout_ms: 500 }
transport: session
heartbeat_interval_ms: 1000
max_concurrency: 4
tags: [test]
metadata: { zone: a }
`;

function problemsOf(source: string, handled?: string[]): string[] {
  try {
    parseManifest(source, 'agent.yaml', handled);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ManifestError);
    return (error as ManifestError).message.split('\n');
  }
}

it('reads a manifest under the names of the options', () => {
  expect(parseManifest(GOOD, 'agent.yaml')).toEqual({
    agentId: 'summarizer-1',
    name: 'summarizer',
    capabilities: [
      { name: 'document.summarize' },
      { name: 'document.translate', version: '2.1.0', fallbacks: ['document.summarize'] },
    ],
    dependencies: [
      { name: 'store', type: 'http', target: 'http://127.0.0.1:1/', critical: true, timeout_ms: 500 },
    ],
    transport: 'session',
    heartbeatIntervalMs: 1000,
    maxConcurrency: 4,
    tags: ['test'],
    metadata: { zone: 'a' },
  });
});

it.each([
  ['agent_id: a\n', 'agent.yaml:1: capabilities: is missing'],
  [
    'agent_id: a\ncapabilities: []',
    'agent.yaml:2: capabilities: must be a list with at least one capability',
  ],
  ['agent_id: 5\ncapabilities: [a.b]', 'agent.yaml:1: agent_id: must be a text that is not empty (is 5)'],
  ['agent_id: a\ncapabilities: [a.b, a.b]', 'agent.yaml:2: capabilities[1]: "a.b" is declared twice'],
  [
    'agent_id: a\ncapabilities: ["a b"]',
    'agent.yaml:2: capabilities[0]: "a b" must not contain white space or "@"',
  ],
  [
    'agent_id: a\ncapabilities: [a.b]\nheartbeatIntervalMs: 5',
    'agent.yaml:3: heartbeatIntervalMs: is not known here; did you mean heartbeat_interval_ms?',
  ],
  [
    'agent_id: a\ncapabilities: [a.b]\ndependencies:\n  - name: x\n    type: http\n    timeout_ms: fast',
    'agent.yaml:6: dependencies[0].timeout_ms: must be a whole number from 1 to 60000 (is "fast")',
  ],
  [
    'agent_id: a\ncapabilities: [a.b]\ntransport: push',
    'agent.yaml:1: endpoint: is needed with transport "push"',
  ],
])('names the place of a mistake in %j', (source, problem) => {
  expect(problemsOf(source)).toEqual([problem]);
});

it('lists all mistakes at once, and the syntax error by its line', () => {
  expect(problemsOf('agent_id: ""\ncapabilities: [a.b]\nweight: 0')).toHaveLength(2);
  expect(problemsOf('agent_id: a\n  b: [')[0]).toMatch(/^agent\.yaml:\d: \(syntax\):/);
  expect(problemsOf('- 1')).toEqual(['agent.yaml:1: (file): must be a mapping']);
});

it('wants a handler for each capability and a capability for each handler', () => {
  expect(problemsOf('agent_id: a\ncapabilities: [a.b, a.c]', ['a.b', 'a.d'])).toEqual([
    'agent.yaml:2: capabilities[1]: "a.c" has no handler',
    'agent.yaml:2: capabilities: there is a handler for "a.d", which is not declared here',
  ]);
});
