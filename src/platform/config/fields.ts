import { hostname } from 'node:os';
import { choice, decimal, integer, secrets, secretUrl, text } from './kinds.js';

/*
 * Every setting, once: name, type, bounds, default, meaning. `Config`, `.env.example` and `reach config`
 * come from these tables. A figure that the specification gives is the default here.
 */

const DAY_MS = 86_400_000;
const MIB = 1_048_576;

const into = (group: string) => (env: string, description: string) => ({ env, description, group });

const server = into('Server');
export const serverFields = {
  httpHost: text(
    server('REACH_HTTP_HOST', 'Address to listen on; off loopback only with REACH_AUTH_TOKENS'),
    '127.0.0.1',
  ),
  httpPort: integer(server('REACH_HTTP_PORT', 'TCP port to listen on; 0 takes a free one'), 0, 65_535, 8080),
  authTokens: secrets(
    server(
      'REACH_AUTH_TOKENS',
      'Bearer tokens that are accepted, comma separated, 16 characters or more each; none: open, on loopback only',
    ),
    16,
  ),
  dataDir: text(server('REACH_DATA_DIR', 'Folder for the embedded database and other local files'), '.reach'),
  replicaId: text(
    server('REACH_REPLICA_ID', 'Name of this process in logs and ownership; the default is random'),
    '',
  ),
  logLevel: choice(
    server('REACH_LOG_LEVEL', 'Least severe log level that is written'),
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
  ),
  logFormat: choice(
    server('REACH_LOG_FORMAT', 'Log lines as JSON or for people; auto: for people on a terminal'),
    ['auto', 'json', 'pretty'],
    'auto',
  ),
  shutdownGraceMs: integer(
    server('REACH_SHUTDOWN_GRACE_MS', 'Milliseconds from SIGTERM to the end of the process at the latest'),
    100,
    600_000,
    25_000,
  ),
  bodyLimitBytes: integer(
    server('REACH_BODY_LIMIT_BYTES', 'Largest request body in bytes'),
    1024,
    64 * MIB,
    MIB,
  ),
  batchBodyLimitBytes: integer(
    server('REACH_BATCH_BODY_LIMIT_BYTES', 'Largest request body in bytes of the batch calls'),
    1024,
    256 * MIB,
    8 * MIB,
  ),
  payloadLimitBytes: integer(
    server('REACH_PAYLOAD_LIMIT_BYTES', 'Largest payload or outputs of one task, in bytes of JSON'),
    1024,
    64 * MIB,
    262_144,
  ),
  batchLimit: integer(server('REACH_BATCH_LIMIT', 'Most items in one batch call'), 1, 10_000, 1000),
  waitLimitMs: integer(
    server('REACH_WAIT_LIMIT_MS', 'Longest wait in milliseconds that a long poll may ask for'),
    0,
    600_000,
    60_000,
  ),
};

const storage = into('Storage');
export const storageFields = {
  databaseUrl: secretUrl(
    storage('DATABASE_URL', 'PostgreSQL to use; absent: an embedded one under REACH_DATA_DIR'),
    ['postgres', 'postgresql'],
  ),
  redisUrl: secretUrl(
    storage('REDIS_URL', 'Redis to share work between replicas; absent: one replica, no Redis'),
    ['redis', 'rediss'],
  ),
  postgresPoolSize: integer(
    storage('REACH_POSTGRES_POOL_SIZE', 'Connections to PostgreSQL; throughput falls above 8'),
    2,
    100,
    8,
  ),
  postgresConnectTimeoutMs: integer(
    storage('REACH_POSTGRES_CONNECT_TIMEOUT_MS', 'Milliseconds to wait for a connection'),
    100,
    60_000,
    3000,
  ),
  postgresStatementTimeoutMs: integer(
    storage('REACH_POSTGRES_STATEMENT_TIMEOUT_MS', 'Milliseconds after which a statement is given up'),
    100,
    600_000,
    10_000,
  ),
  redisTimeoutMs: integer(
    storage('REACH_REDIS_TIMEOUT_MS', 'Milliseconds after which a Redis command is given up'),
    50,
    60_000,
    2000,
  ),
  retentionDays: integer(
    storage('REACH_RETENTION_DAYS', 'Days that tasks, deliveries, attributions and events are kept'),
    1,
    3650,
    30,
  ),
  agentRetentionDays: integer(
    storage('REACH_AGENT_RETENTION_DAYS', 'Days that the row of a removed agent is kept'),
    1,
    3650,
    30,
  ),
};

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
  executionTimeoutMinMs: integer(
    scheduler(
      'REACH_EXECUTION_TIMEOUT_MIN_MS',
      'Least execution timeout in milliseconds that is derived from P95',
    ),
    50,
    604_800_000,
    10_000,
  ),
  executionTimeoutDefaultMs: integer(
    scheduler('REACH_EXECUTION_TIMEOUT_DEFAULT_MS', 'Execution timeout in milliseconds while P95 is unknown'),
    50,
    604_800_000,
    60_000,
  ),
  executionP95Factor: decimal(
    scheduler('REACH_EXECUTION_P95_FACTOR', 'Execution timeout as a multiple of P95'),
    1,
    100,
    1.5,
  ),
  routeTimeoutMs: integer(
    scheduler('REACH_ROUTE_TIMEOUT_MS', 'Milliseconds that a synchronous call waits for an agent'),
    50,
    600_000,
    5000,
  ),
  taskTimeoutMs: integer(
    scheduler('REACH_TASK_TIMEOUT_MS', 'Milliseconds that a synchronous call may take in all'),
    50,
    604_800_000,
    60_000,
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
  inboxLimit: integer(scheduler('REACH_INBOX_LIMIT', 'Most offers that wait for one agent'), 1, 100_000, 128),
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
  retryBudgetCallerMs: integer(
    scheduler('REACH_RETRY_BUDGET_CALLER_MS', 'Milliseconds for a caller to earn one retry'),
    1,
    3_600_000,
    300,
  ),
  retryBudgetBurst: integer(
    scheduler('REACH_RETRY_BUDGET_BURST', 'Retries that a capability may make at once'),
    1,
    100_000,
    100,
  ),
  breakerWindow: integer(
    scheduler('REACH_BREAKER_WINDOW', 'Calls that the breaker of an agent looks back on'),
    1,
    10_000,
    100,
  ),
  breakerErrorShare: decimal(
    scheduler('REACH_BREAKER_ERROR_SHARE', 'Share of errors above which the breaker opens'),
    0.01,
    1,
    0.4,
  ),
  breakerConsecutive: integer(
    scheduler('REACH_BREAKER_CONSECUTIVE', 'Consecutive failures above which the breaker opens'),
    1,
    1000,
    3,
  ),
  breakerOpenMs: integer(
    scheduler('REACH_BREAKER_OPEN_MS', 'Milliseconds that a breaker stays open'),
    10,
    3_600_000,
    30_000,
  ),
  throttleMs: integer(
    scheduler('REACH_THROTTLE_MS', 'Milliseconds of reduced traffic after a recovery'),
    0,
    3_600_000,
    30_000,
  ),
  throttleShare: decimal(
    scheduler('REACH_THROTTLE_SHARE', 'Share of usual traffic after a recovery'),
    0.01,
    1,
    0.2,
  ),
  callDepth: integer(
    scheduler('REACH_CALL_DEPTH', 'Times that one agent may stand in a chain of calls'),
    1,
    100,
    5,
  ),
  routeTtlS: integer(scheduler('REACH_ROUTE_TTL_S', 'Seconds that routing advice is valid'), 1, 3600, 30),
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
};

const probe = into('Probes');
export const probeFields = {
  probeIntervalL1Ms: integer(
    probe('REACH_PROBE_INTERVAL_L1_MS', 'Milliseconds between TCP probes of an agent'),
    100,
    DAY_MS,
    15_000,
  ),
  probeIntervalL2Ms: integer(
    probe('REACH_PROBE_INTERVAL_L2_MS', 'Milliseconds between health probes of an agent'),
    100,
    DAY_MS,
    45_000,
  ),
  probeIntervalL3Ms: integer(
    probe('REACH_PROBE_INTERVAL_L3_MS', 'Milliseconds between deep pings of an agent'),
    100,
    DAY_MS,
    180_000,
  ),
  probeTimeoutL1Ms: integer(
    probe('REACH_PROBE_TIMEOUT_L1_MS', 'Milliseconds that a TCP probe may take'),
    10,
    600_000,
    2000,
  ),
  probeTimeoutL2Ms: integer(
    probe('REACH_PROBE_TIMEOUT_L2_MS', 'Milliseconds that a health probe may take'),
    10,
    600_000,
    5000,
  ),
  probeTimeoutL3Ms: integer(
    probe('REACH_PROBE_TIMEOUT_L3_MS', 'Milliseconds that a deep ping may take'),
    10,
    600_000,
    20_000,
  ),
  probeResponseLimitBytes: integer(
    probe('REACH_PROBE_RESPONSE_LIMIT_BYTES', 'Bytes of an answer after which a probe stops reading'),
    1024,
    16 * MIB,
    65_536,
  ),
  dependencyIntervalMs: integer(
    probe('REACH_DEPENDENCY_INTERVAL_MS', 'Milliseconds between probes of a dependency'),
    100,
    DAY_MS,
    30_000,
  ),
  offlineAfterFailures: integer(
    probe(
      'REACH_OFFLINE_AFTER_FAILURES',
      'Failed probes running after which an agent without heartbeat is offline',
    ),
    1,
    100,
    3,
  ),
  recoveryProbes: integer(probe('REACH_RECOVERY_PROBES', 'Good probes that prove a recovery'), 1, 100, 2),
  warmUpProbes: integer(
    probe('REACH_WARM_UP_PROBES', 'Good probes before a new agent takes work'),
    0,
    10_000,
    50,
  ),
  warmUpRatePerS: integer(probe('REACH_WARM_UP_RATE_PER_S', 'Warm-up probes a second'), 1, 1000, 20),
  warmUpLatencyMs: integer(
    probe(
      'REACH_WARM_UP_LATENCY_MS',
      'Mean latency in milliseconds that passes warm-up while its group has no P95',
    ),
    1,
    600_000,
    1000,
  ),
};

export const fields = {
  ...serverFields,
  ...storageFields,
  ...registryFields,
  ...schedulerFields,
  ...probeFields,
};

/** `<host>-<random>`: tells two processes of one host apart. */
export function randomReplicaId(random: () => string): string {
  return `${hostname()}-${random().slice(0, 8)}`;
}
