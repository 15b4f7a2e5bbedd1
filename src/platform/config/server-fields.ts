import { choice, integer, into, redisUrl, secretUrl, secrets, text } from './kinds.js';

/* Settings of the process itself: where it listens, who may call, how much it takes, where it stores. */

const MIB = 1_048_576;

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
    server('REACH_PAYLOAD_LIMIT_BYTES', 'Largest payload of one task, in bytes of JSON'),
    1024,
    64 * MIB,
    262_144,
  ),
};

const storage = into('Storage');
export const storageFields = {
  databaseUrl: secretUrl(
    storage('DATABASE_URL', 'PostgreSQL to use; absent: an embedded one under REACH_DATA_DIR'),
    ['postgres', 'postgresql'],
  ),
  redisUrl: redisUrl(
    storage(
      'REDIS_URL',
      'Redis to share work between replicas, single, sentinel or cluster; absent: one replica, no Redis',
    ),
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
    2000,
    2000,
  ),
  retentionDays: integer(
    storage('REACH_RETENTION_DAYS', 'Days that tasks, deliveries, attributions and events are kept'),
    1,
    3650,
    30,
  ),
  agentRetentionDays: integer(
    storage(
      'REACH_AGENT_RETENTION_DAYS',
      'Days that the row of an agent is kept that was removed, or stays offline',
    ),
    1,
    3650,
    30,
  ),
};
