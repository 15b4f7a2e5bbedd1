import { attribute, consequence, type Incident } from './attribution.js';

test.each<[Incident, string, string, string, string, RegExp]>([
  [
    { kind: 'unplaceable', capability: 'sum', shortage: { kind: 'no_capable', rejections: [] } },
    'NO_CAPABLE_AGENT',
    'placement',
    'caller',
    'never_started',
    /^no registered agent offers sum, and its policy is not to wait for one$/,
  ],
  [
    {
      kind: 'unplaceable',
      capability: 'sum',
      shortage: {
        kind: 'no_reachable',
        rejections: [{ agentId: 'a1', filter: 'state', reason: 'is offline' }],
      },
    },
    'NO_REACHABLE_AGENT',
    'placement',
    'agent',
    'never_started',
    /^no agent with sum was reachable \(a1 is offline\), and its policy is not to wait for one$/,
  ],
  [
    { kind: 'ack_timeout', agentId: 'a1', transport: 'pull', ackTimeoutMs: 5000, agentState: 'online' },
    'ACK_TIMEOUT',
    'offer',
    'agent',
    'never_started',
    /a1 \(online\) did not acknowledge the delivery within 5 s/,
  ],
  [
    { kind: 'ack_timeout', agentId: 'a1', transport: 'push', ackTimeoutMs: 300, agentState: 'online' },
    'ACK_TIMEOUT',
    'offer',
    'agent',
    'maybe_started',
    /within 0\.3 s/,
  ],
  [
    { kind: 'execution_timeout', agentId: 'a1', executionTimeoutMs: 60_000, progressNote: 'page 3' },
    'EXECUTION_TIMEOUT',
    'execution',
    'agent',
    'maybe_started',
    /did not finish within 60 s; its last word was "page 3"/,
  ],
  [
    { kind: 'lease_expired', agentId: 'a1', running: true, lastHeartbeatAt: '2026-01-01T00:00:00.000Z' },
    'AGENT_LOST',
    'execution',
    'agent',
    'maybe_started',
    /lost while it ran the task: last heartbeat at 2026/,
  ],
  [
    { kind: 'lease_expired', agentId: 'a1', running: false, lastHeartbeatAt: '2026-01-01T00:00:00.000Z' },
    'AGENT_LOST',
    'offer',
    'agent',
    'never_started',
    /before it began/,
  ],
  [
    { kind: 'restarted', agentId: 'a1', running: true, newLeaseAt: '2026-01-01T00:00:00.000Z' },
    'AGENT_LOST',
    'execution',
    'agent',
    'maybe_started',
    /restarted while it ran the task/,
  ],
  [
    { kind: 'drained', agentId: 'a1', running: true },
    'AGENT_LOST',
    'execution',
    'agent',
    'maybe_started',
    /drain time/,
  ],
  [
    { kind: 'push_failed', agentId: 'a1', reason: 'failed', sent: false, detail: 'ECONNREFUSED' },
    'CONNECTION_FAILED',
    'offer',
    'network',
    'never_started',
    /could not be pushed to agent a1: ECONNREFUSED/,
  ],
  [
    { kind: 'push_failed', agentId: 'a1', reason: 'failed', sent: true, detail: 'HTTP 500' },
    'CONNECTION_FAILED',
    'offer',
    'network',
    'maybe_started',
    /HTTP 500/,
  ],
  [
    { kind: 'push_failed', agentId: 'a1', reason: 'refused', sent: true, detail: 'HTTP 429: busy' },
    'AGENT_REFUSED',
    'offer',
    'agent',
    'never_started',
    /declined the delivery: HTTP 429: busy/,
  ],
  [
    { kind: 'reported', agentId: 'a1', code: 'AGENT_ERROR', message: 'boom' },
    'AGENT_ERROR',
    'execution',
    'agent',
    'failed_for_sure',
    /agent a1 reported an error: boom/,
  ],
  [
    { kind: 'reported', agentId: 'a1', code: 'AGENT_ERROR', foreignCode: 'E42', message: '' },
    'AGENT_ERROR',
    'execution',
    'agent',
    'failed_for_sure',
    /reported an error \(E42\) without a message$/,
  ],
  [
    { kind: 'reported', agentId: 'a1', code: 'DEPENDENCY_DOWN', dependency: 'news_rss', message: 'timeout' },
    'DEPENDENCY_DOWN',
    'execution',
    'dependency',
    'failed_for_sure',
    /dependency news_rss of agent a1 failed: timeout/,
  ],
  [
    { kind: 'reported', agentId: 'a1', code: 'AGENT_REFUSED', message: 'context too long' },
    'AGENT_REFUSED',
    'offer',
    'agent',
    'never_started',
    /declined the task: context too long/,
  ],
  [
    { kind: 'reported', agentId: 'a1', code: 'CONTRACT_MISMATCH', message: 'no text' },
    'CONTRACT_MISMATCH',
    'execution',
    'caller',
    'failed_for_sure',
    /not to its contract: no text/,
  ],
  [
    { kind: 'reported', agentId: 'a1', code: 'PAYLOAD_TOO_LARGE', message: 'outputs has 300000 bytes' },
    'PAYLOAD_TOO_LARGE',
    'execution',
    'agent',
    'failed_for_sure',
    /the result of agent a1 was too large: outputs has 300000 bytes/,
  ],
  [
    {
      kind: 'expired',
      capability: 'fetch',
      waitedMs: 2000,
      hindrance: { kind: 'no_capable', rejections: [] },
    },
    'TASK_EXPIRED',
    'placement',
    'caller',
    'never_started',
    /within 2 s: no registered agent offers fetch/,
  ],
  [
    {
      kind: 'expired',
      capability: 'fetch',
      waitedMs: 2000,
      hindrance: {
        kind: 'no_reachable',
        rejections: [{ agentId: 'n2', filter: 'state', reason: 'offline: lease expired' }],
      },
    },
    'TASK_EXPIRED',
    'placement',
    'agent',
    'never_started',
    /reachable \(n2 offline: lease expired\)/,
  ],
  [
    {
      kind: 'expired',
      capability: 'fetch',
      waitedMs: 2000,
      hindrance: {
        kind: 'busy',
        rejections: [{ agentId: 'n2', filter: 'capacity', reason: 'busy: 1 of 1 slots in use' }],
      },
    },
    'TASK_EXPIRED',
    'placement',
    'platform',
    'never_started',
    /every agent with fetch was busy/,
  ],
  [
    {
      kind: 'expired',
      capability: 'fetch',
      waitedMs: 2000,
      hindrance: {
        kind: 'no_capable',
        rejections: [{ agentId: 'n2', filter: 'tags', reason: 'lacks the tag gpu' }],
      },
    },
    'TASK_EXPIRED',
    'placement',
    'caller',
    'never_started',
    /no agent fits fetch \(n2 lacks the tag gpu\)/,
  ],
  [
    {
      kind: 'expired',
      capability: 'fetch',
      waitedMs: 2000,
      hindrance: { kind: 'paused', capability: 'fetch', reason: '' },
    },
    'TASK_EXPIRED',
    'placement',
    'platform',
    'never_started',
    /the capability fetch was paused/,
  ],
  [
    {
      kind: 'expired',
      capability: 'fetch',
      waitedMs: 2000,
      hindrance: { kind: 'not_due', runAt: '2026-11-30T00:00:00.000Z' },
    },
    'TASK_EXPIRED',
    'placement',
    'caller',
    'never_started',
    /expired before its time came, at 2026-11-30T00:00:00.000Z/,
  ],
])('%j', (incident, code, stage, blame, work, message) => {
  const said = attribute(incident);
  expect([said.code, said.stage, said.blame, said.evidenceOfWork]).toEqual([code, stage, blame, work]);
  expect(said.message).toMatch(message);
});

test('the sentence ends with what follows', () => {
  expect(consequence({ retry: true }, 2000)).toBe('; another attempt follows in 2 s');
  expect(consequence({ retry: false, because: 'attempts_used' }, 0)).toContain('no attempts are left');
  expect(consequence({ retry: false, because: 'not_idempotent' }, 0)).toContain('not run again');
  expect(consequence({ retry: false, because: 'over' }, 0)).toBe('; no time is left');
});
