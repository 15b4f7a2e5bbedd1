/**
 * What a person does about each error code, and where the code is met. The codes themselves, their status and
 * their meaning come from the catalogue (src/core/errors.ts); a code without advice here fails the generation.
 */

/** Where a code is met: the answer to a call, the reason why a delivery is stale, or the end of an attempt or task. */
const CALL = 'call';
const STALE = 'stale';
const FAILURE = 'failure';
const RESERVED = 'reserved';

const advice = (where, text) => ({ where, text });

const ADVICE = {
  NO_CAPABLE_AGENT: advice(
    [FAILURE],
    'The policy of the capability says to fail (`when_unreachable`) where no registered agent fits: register one, or name a `fallback`. Elsewhere such a task waits, or ends as `REACH_TASK_EXPIRED`.',
  ),
  NO_REACHABLE_AGENT: advice(
    [FAILURE],
    'The policy of the capability says to fail (`when_unreachable`) where its agents are away: the message names them. Elsewhere such a task waits, or ends as `REACH_TASK_EXPIRED`.',
  ),
  QUEUE_FULL: advice(
    [CALL],
    'Submit again after `Retry-After`. If it lasts, add agents, or raise `REACH_LANE_LIMIT` (tasks by capability or name) or `REACH_INBOX_LIMIT` (tasks for one agent).',
  ),
  ROUTE_TIMEOUT: advice([RESERVED], 'Nothing waits for a route in this version.'),
  ACK_TIMEOUT: advice(
    [FAILURE],
    'Look at the event loop and the connection of the agent: it was offered work and did not answer. The task goes to another agent; of a pushed task only where it is idempotent.',
  ),
  EXECUTION_TIMEOUT: advice(
    [FAILURE],
    'Raise `execution_timeout_ms`, let the handler extend its deadline with `progress`, or mark the task `idempotent` so that it is tried again.',
  ),
  TASK_EXPIRED: advice(
    [FAILURE],
    'The message says what it waited for: no such agent, agents that do not fit, are away or busy, a paused capability. Change that, or raise `expires_in_ms`.',
  ),
  AGENT_LOST: advice(
    [FAILURE],
    'Find out why the process ended, restarted, or missed its heartbeats. A task that is not idempotent may have run in part: check, then retry it by hand.',
  ),
  AGENT_ERROR: advice(
    [FAILURE],
    'Read `raw_error`: the handler threw, or reported a code of its own, which is in the message.',
  ),
  AGENT_REFUSED: advice(
    [FAILURE],
    'The agent is healthy and declines: the payload is out of its scope, or it has no room. The task goes to another agent.',
  ),
  DEPENDENCY_DOWN: advice(
    [FAILURE],
    'Mend the dependency that is named, not the agent. Then retry what failed: `reach retry --code DEPENDENCY_DOWN`.',
  ),
  CONNECTION_FAILED: advice(
    [FAILURE],
    'Is the endpoint that the agent registered reachable from the dispatchers? An agent may also report it of a connection of its own.',
  ),
  CONTRACT_MISMATCH: advice([FAILURE], 'Correct the payload; the same one will fail again.'),
  CALL_CYCLE: advice(
    [CALL],
    'Agents call each other in a circle: follow `parent_task_id` back. No agent handles more than five tasks of one chain, and no chain is longer than a hundred.',
  ),
  CANCELED: advice(
    [STALE, CALL],
    'For the agent: stop the work, its result is not wanted any more. For the caller: the task was canceled as asked.',
  ),
  STREAM_INCOMPLETE: advice([RESERVED], 'There are no streams in this version.'),
  LEASE_EXPIRED: advice(
    [CALL, STALE],
    'Register again; the SDK does. If it happens to a living agent, its heartbeats come too late: a blocked event loop, or a lease that is too short.',
  ),
  LEASE_SUPERSEDED: advice(
    [CALL, STALE],
    'A newer process registered under this `agent_id`. Stop this one, or give each process an id of its own.',
  ),
  DELIVERY_SUPERSEDED: advice(
    [CALL, STALE],
    'Stop the work: the delivery is closed, and nothing that is reported about it counts.',
  ),
  IDEMPOTENCY_CONFLICT: advice(
    [CALL],
    'Use a new key for a new task, or send the body that the key was used with.',
  ),
  STATE_CONFLICT: advice(
    [CALL],
    'Look at the state in the detail: a delivery is acknowledged before it is completed, a task has ended before it is retried.',
  ),
  UNAUTHENTICATED: advice([CALL], 'Send `Authorization: Bearer <token>` with one of `REACH_AUTH_TOKENS`.'),
  FORBIDDEN: advice([RESERVED], 'Every token may do everything in this version.'),
  NOT_FOUND: advice([CALL, STALE], 'Check id and namespace; rows are dropped after `REACH_RETENTION_DAYS`.'),
  METHOD_NOT_ALLOWED: advice([CALL], 'The `Allow` header names the methods of this path.'),
  UNSUPPORTED_MEDIA_TYPE: advice([CALL], 'Send `Content-Type: application/json`.'),
  VALIDATION_FAILED: advice(
    [CALL],
    'Each entry of `errors` points at a bad field and says what is wrong there.',
  ),
  PAYLOAD_TOO_LARGE: advice(
    [CALL, FAILURE],
    'Send a reference to the data instead, or raise `REACH_PAYLOAD_LIMIT_BYTES` and the body limits.',
  ),
  RATE_LIMITED: advice([RESERVED], 'Callers are not limited in this version; a proxy in front may do it.'),
  UNAVAILABLE: advice(
    [CALL],
    'Repeat the call after `Retry-After`: PostgreSQL, or for a claim Redis, does not answer. Submit with an `Idempotency-Key`, then repeating is safe.',
  ),
  INTERNAL: advice(
    [CALL],
    'A bug, or an error nobody foresaw: search the log for the `trace_id` of the answer.',
  ),
};

/**
 * The text of docs/failure-codes.md.
 *
 * @param {Record<string, { status: number, title: string, retryable: boolean }>} catalogue ERROR_CATALOGUE
 * @throws Error when a code has no advice, or an advice no code
 */
export function failureCodes(catalogue) {
  const codes = Object.keys(catalogue);
  const without = codes.filter((code) => ADVICE[code] === undefined);
  const unknown = Object.keys(ADVICE).filter((code) => catalogue[code] === undefined);
  if (without.length + unknown.length > 0)
    throw new Error(
      `scripts/failure-codes.mjs: no advice for [${without}], advice for codes that are gone [${unknown}]`,
    );
  const used = codes.filter((code) => !ADVICE[code].where.includes(RESERVED));
  const reserved = codes.filter((code) => ADVICE[code].where.includes(RESERVED));
  return [...head(), ...table(used, catalogue), '', ...reservedPart(reserved, catalogue)].join('\n');
}

function head() {
  return [
    '<!-- Generated by `npm run generate` from src/core/errors.ts and scripts/failure-codes.mjs; do not edit. -->',
    '',
    '# Failure codes',
    '',
    'One catalogue for REST, the session, attributions and the SDK. On the wire each code is prefixed `REACH_`.',
    'Refused calls are answered with `application/problem+json` (RFC 9457), whose `code`, `retryable` and',
    '`errors[]` say the same as this table.',
    '',
    '- **Met as**: _call_: the answer to a call. _stale_: why a delivery is no longer the agent’s (answer to its ACK',
    '  or report, `stale[]` of a heartbeat, frame of a session). _failure_: why an attempt or a task failed, in the',
    '  task’s `error` and in its attributions.',
    '- **Retryable**: whether the same call, unchanged, may succeed later. For a failed task the answer depends on',
    '  the task too (`idempotent`, attempts left) and stands in its `error.retryable`.',
    '',
  ];
}

function table(codes, catalogue) {
  const rows = codes.map((code) => {
    const { status, title, retryable } = catalogue[code];
    const { where, text } = ADVICE[code];
    return `| \`REACH_${code}\` | ${status} | ${where.join(', ')} | ${title} | ${retryable ? 'yes' : 'no'} | ${text} |`;
  });
  return [
    '| code | HTTP | met as | meaning | retryable | what to do |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

function reservedPart(codes, catalogue) {
  return [
    '## Reserved',
    '',
    'In the catalogue, and raised by nothing in this version:',
    '',
    ...codes.map(
      (code) =>
        `- \`REACH_${code}\` (${catalogue[code].status}): ${catalogue[code].title}. ${ADVICE[code].text}`,
    ),
    '',
  ];
}
