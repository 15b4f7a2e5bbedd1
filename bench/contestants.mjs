import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { MISSING } from './system/peer-servers.mjs';

const BATCH = 200;
const BATCH_CALLERS = 4;
/**
 * Tasks submitted and not yet done, at most: enough that no stage runs dry, and few enough that it is reached
 * during warm-up (else the window pays for more submissions than results).
 */
const BACKLOG = { rest: 1_500, single: 1500, bulk: 3000 };
const REST_LOOPS = 20;
const CONCURRENCY = 50;
const BULL_CONCURRENCY = 200;
const PEER_LOOPS = 16;
/** With thousands waiting, pg-boss and graphile-worker sort their backlog for each fetch: these are kinder to them. */
const PEER_ON_POSTGRES = { callers: 32, backlog: 200 };
const PREFETCH = 200;

/**
 * Who takes part. `peer` is whom the ratio is taken to, in the same round; `target` the least ratio asked for;
 * `beside` the same to tools that are no part of ours: each keeps a queue, none of them a history of its tasks.
 * The order is the order in a round: each stands next to its peer.
 */
export const CONTESTANTS = [
  { name: 'bullmq-redis-single', kind: 'bull', store: 'redis', batch: 1 },
  {
    name: 'rest',
    kind: 'reach',
    mode: 'distributed',
    agents: 'rest',
    batch: 1,
    peer: 'bullmq-redis-single',
    target: 0.15,
  },
  {
    name: 'sessions',
    kind: 'reach',
    mode: 'distributed',
    agents: 'session',
    batch: 1,
    peer: 'bullmq-redis-single',
    target: 0.35,
    beside: { 'pgboss-single': 5, 'graphile-single': 5, rabbitmq: 0.5, nats: 0.5 },
  },
  { name: 'pgboss-single', kind: 'peer', product: 'pgboss', store: 'postgres', batch: 1 },
  { name: 'graphile-single', kind: 'peer', product: 'graphile', store: 'postgres', batch: 1 },
  { name: 'rabbitmq', kind: 'peer', product: 'rabbitmq', store: 'rabbitmq', batch: 1 },
  { name: 'nats', kind: 'peer', product: 'nats', store: 'nats', batch: 1 },
  { name: 'bullmq-redis-bulk', kind: 'bull', store: 'redis', batch: BATCH },
  {
    name: 'batch',
    kind: 'reach',
    mode: 'distributed',
    agents: 'session',
    batch: BATCH,
    peer: 'bullmq-redis-bulk',
    target: 0.45,
  },
  { name: 'bullmq-postgres-single', kind: 'bull', store: 'postgres', batch: 1 },
  {
    name: 'embedded-sessions',
    kind: 'reach',
    mode: 'embedded',
    agents: 'session',
    batch: 1,
    peer: 'bullmq-postgres-single',
    target: 1,
  },
  {
    name: 'embedded-batch',
    kind: 'reach',
    mode: 'embedded',
    agents: 'session',
    batch: BATCH,
    peer: 'bullmq-postgres-single',
    target: 1,
  },
];

/** The contestants that `only` names (by prefix), and their BullMQ peers; all that can run when it is empty. */
export function choose(only) {
  const named = CONTESTANTS.filter(({ name }) => only.length === 0 || only.some((o) => name.startsWith(o)));
  const peers = new Set(named.map(({ peer }) => peer));
  return CONTESTANTS.filter(
    (contestant) => (named.includes(contestant) || peers.has(contestant.name)) && canRun(contestant),
  );
}

function canRun({ name, kind, store }) {
  const missing = kind === 'peer' ? (MISSING.clients() ?? MISSING[store]?.()) : undefined;
  if (missing !== undefined) process.stdout.write(`${name} is left out: it needs ${missing}\n`);
  return missing === undefined;
}

let turns = 0;

/** The two forked roles of one turn: name of the file, and its options. */
export function rolesOf(contestant, options, arena) {
  const { batch } = contestant;
  const id = `${contestant.name}-${++turns}`;
  const flow = {
    batch,
    callers: batch > 1 ? BATCH_CALLERS : options.callers,
    backlog: BACKLOG[contestant.agents === 'rest' ? 'rest' : batch > 1 ? 'bulk' : 'single'],
    payloadBytes: options.payloadBytes,
  };
  if (contestant.kind === 'bull') {
    const store =
      contestant.store === 'redis'
        ? { redis: { host: arena.redis.host, port: arena.redis.port } }
        : { postgres: arena.bullDatabase };
    return {
      id,
      producer: ['bull-producer', { queue: id, ...store, ...flow }],
      consumer: ['bull-worker', { queue: id, ...store, concurrency: BULL_CONCURRENCY }],
    };
  }
  if (contestant.kind === 'peer') {
    const servers = { postgres: arena.peerDatabase, rabbitmq: arena.rabbitmq?.url, nats: arena.nats?.url };
    const common = { queue: id.replaceAll('-', '_'), [contestant.store]: servers[contestant.store] };
    const gentle = contestant.store === 'postgres' ? PEER_ON_POSTGRES : {};
    const worker = { loops: PEER_LOOPS, concurrency: 24, prefetch: PREFETCH };
    return {
      id,
      producer: [`../peers/${contestant.product}-producer`, { ...common, ...flow, ...gentle }],
      consumer: [`../peers/${contestant.product}-worker`, { ...common, ...worker }],
    };
  }
  const { url } = arena[contestant.mode];
  const agents = { url, capability: id, agents: options.agents };
  return {
    id,
    producer: ['load', { url, capability: id, ...flow }],
    consumer:
      contestant.agents === 'rest'
        ? ['rest-agents', { ...agents, loops: REST_LOOPS }]
        : ['session-agents', { ...agents, concurrency: CONCURRENCY, sdk: sdkUrl() }],
  };
}

function sdkUrl() {
  return pathToFileURL(resolve('sdk/typescript/dist/esm/index.js')).href;
}
