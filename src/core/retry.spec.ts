import { judgeRetry, type AttemptEnd, type RetryFacts } from './retry.js';

const fresh: RetryFacts = { idempotent: false, attempt: 1, maxAttempts: 4 };
const twice: RetryFacts = { ...fresh, idempotent: true };
const used: RetryFacts = { ...twice, attempt: 4 };

test.each<[string, AttemptEnd, RetryFacts, ReturnType<typeof judgeRetry>]>([
  ['never started', { code: 'ACK_TIMEOUT', evidence: 'never_started' }, fresh, { retry: true }],
  [
    'maybe started',
    { code: 'AGENT_LOST', evidence: 'maybe_started' },
    fresh,
    { retry: false, because: 'not_idempotent' },
  ],
  ['maybe started, idempotent', { code: 'AGENT_LOST', evidence: 'maybe_started' }, twice, { retry: true }],
  [
    'failed for sure',
    { code: 'AGENT_ERROR', evidence: 'failed_for_sure' },
    fresh,
    { retry: false, because: 'not_idempotent' },
  ],
  [
    'failed for sure, idempotent',
    { code: 'AGENT_ERROR', evidence: 'failed_for_sure' },
    twice,
    { retry: true },
  ],
  [
    'attempts used',
    { code: 'AGENT_ERROR', evidence: 'failed_for_sure' },
    used,
    { retry: false, because: 'attempts_used' },
  ],
  [
    'the time of the task is over',
    { code: 'EXECUTION_TIMEOUT', evidence: 'maybe_started' },
    { ...twice, over: true },
    { retry: false, because: 'over' },
  ],
  [
    'attempts used, never started',
    { code: 'ACK_TIMEOUT', evidence: 'never_started' },
    { ...fresh, attempt: 4 },
    { retry: false, because: 'attempts_used' },
  ],
  [
    'the agent says no',
    { code: 'AGENT_ERROR', evidence: 'failed_for_sure', agentSaysRetryable: false },
    twice,
    { retry: false, because: 'final' },
  ],
  [
    'the agent says yes, but it is not idempotent',
    { code: 'AGENT_ERROR', evidence: 'failed_for_sure', agentSaysRetryable: true },
    fresh,
    { retry: false, because: 'not_idempotent' },
  ],
  [
    'too large',
    { code: 'PAYLOAD_TOO_LARGE', evidence: 'failed_for_sure' },
    twice,
    { retry: false, because: 'final' },
  ],
  [
    'contract',
    { code: 'CONTRACT_MISMATCH', evidence: 'failed_for_sure' },
    twice,
    { retry: false, because: 'final' },
  ],
])('%s', (_name, end, task, verdict) => {
  expect(judgeRetry(end, task)).toEqual(verdict);
});
