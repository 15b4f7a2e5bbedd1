import { decimal, integer, into, secrets, text } from './kinds.js';

/* Settings of leases and of the way of a task. */

const registry = into('Agents and leases');
export const registryFields = {
  heartbeatIntervalMs: integer(
    registry('REACH_HEARTBEAT_INTERVAL_MS', 'Milliseconds between heartbeats of an agent that does not say'),
    100,
    3_600_000,
    15_000,
  ),
  leaseIntervals: integer(
    registry('REACH_LEASE_INTERVALS', 'Heartbeat intervals that a lease lasts; at least 3'),
    3,
    100,
    3,
  ),
  leaseGraceMs: integer(
    registry('REACH_LEASE_GRACE_MS', 'Milliseconds added to the intervals of a lease'),
    0,
    600_000,
    5000,
  ),
  drainMs: integer(
    registry('REACH_DRAIN_MS', 'Milliseconds that a leaving agent gets to finish its work'),
    0,
    3_600_000,
    30_000,
  ),
  statusMetricAgents: integer(
    registry(
      'REACH_STATUS_METRIC_AGENTS',
      'Agents that have a series of their own in the metric reach_status; those beyond are counted together',
    ),
    0,
    10_000,
    200,
  ),
  warmUpProbes: integer(
    registry(
      'REACH_WARM_UP_PROBES',
      'Good light probes before a new agent gets work, where another warm one could take it; 0 turns it off',
    ),
    0,
    10_000,
    50,
  ),
};

const scheduler = into('Scheduler');
export const schedulerFields = {
  ackTimeoutMs: integer(
    scheduler('REACH_ACK_TIMEOUT_MS', 'Milliseconds in which an agent must acknowledge an offer'),
    50,
    300_000,
    5000,
  ),
  redispatchJitterMs: integer(
    scheduler(
      'REACH_REDISPATCH_JITTER_MS',
      'Most milliseconds of random delay before the next agent is tried',
    ),
    0,
    60_000,
    200,
  ),
  executionTimeoutDefaultMs: integer(
    scheduler('REACH_EXECUTION_TIMEOUT_DEFAULT_MS', 'Execution timeout in milliseconds while P95 is unknown'),
    50,
    604_800_000,
    60_000,
  ),
  executionTimeoutMinMs: integer(
    scheduler(
      'REACH_EXECUTION_TIMEOUT_MIN_MS',
      'Least execution timeout in milliseconds that follows from the P95 of an agent',
    ),
    50,
    604_800_000,
    10_000,
  ),
  connectTimeoutMs: integer(
    scheduler('REACH_CONNECT_TIMEOUT_MS', 'Milliseconds to connect to an agent'),
    50,
    60_000,
    2000,
  ),
  firstByteTimeoutMs: integer(
    scheduler('REACH_FIRST_BYTE_TIMEOUT_MS', 'Milliseconds from the request to the first byte of an agent'),
    50,
    600_000,
    5000,
  ),
  inboxLimit: integer(
    scheduler('REACH_INBOX_LIMIT', 'Most offers that wait for an agent, unless it may hold more at a time'),
    1,
    100_000,
    128,
  ),
  laneLimit: integer(
    scheduler('REACH_LANE_LIMIT', 'Most tasks that wait in one lane; above it QUEUE_FULL'),
    1,
    10_000_000,
    100_000,
  ),
  maxAttempts: integer(
    scheduler('REACH_MAX_ATTEMPTS', 'Attempts of a task: the first and its retries'),
    1,
    100,
    4,
  ),
  taskTokenIssuer: text(
    scheduler('REACH_TASK_TOKEN_ISSUER', 'Claim iss of task tokens: how dependencies know this installation'),
    'agent-reach',
  ),
  taskTokenRotationMs: integer(
    scheduler(
      'REACH_TASK_TOKEN_ROTATION_MS',
      'Milliseconds after which task tokens are signed with a new key; the old one stays in the key set until what it signed is over',
    ),
    60_000,
    31_536_000_000,
    2_592_000_000,
  ),
  retryBaseMs: integer(
    scheduler('REACH_RETRY_BASE_MS', 'Milliseconds before the first retry; doubles with each'),
    1,
    3_600_000,
    1000,
  ),
  retryJitter: decimal(
    scheduler('REACH_RETRY_JITTER', 'Largest share by which a retry delay is stretched at random'),
    0,
    1,
    0.05,
  ),
  sweepIntervalMs: integer(
    scheduler('REACH_SWEEP_INTERVAL_MS', 'Milliseconds between sweeps over passed deadlines'),
    50,
    60_000,
    1000,
  ),
  reconcileIntervalMs: integer(
    scheduler('REACH_RECONCILE_INTERVAL_MS', 'Milliseconds between full comparisons with the ledger'),
    100,
    600_000,
    10_000,
  ),
  idempotencyTtlMs: integer(
    scheduler(
      'REACH_IDEMPOTENCY_TTL_MS',
      'Milliseconds that an idempotency key is remembered; below the retention of tasks',
    ),
    60_000,
    86_400_000,
    86_400_000,
  ),
  webhookSecrets: secrets(
    scheduler(
      'REACH_WEBHOOK_SECRETS',
      'Secrets that callbacks and webhooks of policies are signed with (Standard Webhooks), comma separated: with two, both sign, so that one can be replaced',
    ),
    16,
  ),
};
