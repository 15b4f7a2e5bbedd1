/** How soon the prober notices, and what it costs. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent as HttpAgent, request } from 'undici';
import { cpuBetween, cpuSnapshot } from './system/cpu.mjs';
import { describeMachine } from './system/machine.mjs';
import { Role } from './system/processes.mjs';
import { startDispatcher } from './system/servers.mjs';

const BYSTANDERS = 16;
const VICTIMS_AT_ONCE = 3;
const DEPENDENCY_INTERVAL_MS = 5000;
const FLEET = { agents: 1000, dependencies: 3, ports: 300 };
const http = new HttpAgent({ connections: 64, pipelining: 1 });

/** Prints each figure as it is found, and writes them all to probe.json. */
export async function probe(options) {
  const wanted = (part) => options.only.length === 0 || options.only.includes(part);
  const results = { options, detection: {}, cost: {} };
  const note = (part, name, value) => {
    results[part][name] = value;
    process.stdout.write(`${name}: ${JSON.stringify(value)}\n`);
  };
  if (wanted('detection')) await detection(options, (name, value) => note('detection', name, value));
  if (wanted('cost')) {
    const dispatcher = await startDispatcher(options.dist, {});
    results.machine = await describeMachine(dispatcher.postgres.url);
    for (const [name, value] of Object.entries(await cost(dispatcher))) note('cost', name, value);
  }
  if (options.out !== '-')
    await writeFile(join(options.out, 'probe.json'), `${JSON.stringify(results, null, 2)}\n`);
}

/** Kills and stops agents, and kills what others need, among bystanders that nothing is done to. */
async function detection(options, note) {
  const samples = options.rounds * VICTIMS_AT_ONCE;
  const first = await startDispatcher(options.dist, {
    settings: {
      REACH_ECHO_INTERVAL_MS: '2000',
      REACH_DEPENDENCY_INTERVAL_MS: String(DEPENDENCY_INTERVAL_MS),
      REACH_WARM_UP_PROBES: '0',
    },
  });
  const bystanders = new Role('echo-agent', { url: first.url, ids: ids('bystander', BYSTANDERS) });
  await bystanders.call('start');
  note('killed, not eligible after ms', await victims(first.url, samples, 'SIGKILL'));
  note('stopped (echo every 2 s), not eligible after ms', await victims(first.url, samples, 'SIGSTOP'));
  const { died, revived } = await dependencies(first.url, samples);
  note(`critical dependency died (interval ${DEPENDENCY_INTERVAL_MS} ms), not eligible after ms`, died);
  note('it came back, eligible after ms', revived);
  note('false alarms among bystanders', await falseAlarms(first.url));
  await bystanders.stop();
}

const ids = (name, count) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

async function call(url, method, path, body) {
  const answer = await request(`${url}/api/v1/${path}`, {
    method,
    dispatcher: http,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return answer.body.json();
}

async function untilState(url, id, wanted) {
  const since = performance.now();
  while (!wanted((await call(url, 'GET', `agents/${id}`)).state)) await pause(10);
  return Math.round(performance.now() - since);
}

/** Times until agents that a signal hit are no longer online. Few at a time: many at once would be confirmed first. */
async function victims(url, samples, signal) {
  const times = [];
  for (let batch = 0; times.length < samples; batch++) {
    const batchIds = ids(`${signal.toLowerCase()}-${batch}`, VICTIMS_AT_ONCE);
    const roles = batchIds.map((id) => new Role('echo-agent', { url, ids: [id] }));
    await Promise.all(roles.map((role) => role.call('start')));
    await pause(3000);
    const found = roles.map(async (role, i) => {
      // On a machine that is too busy for the handshake the SDK falls back to polling: that is another measurement.
      const { transport } = await call(url, 'GET', `agents/${batchIds[i]}`);
      if (transport !== 'session') return undefined;
      await pause(Math.random() * 2000);
      process.kill(role.pid, signal);
      return untilState(url, batchIds[i], (state) => state !== 'online');
    });
    times.push(...(await Promise.all(found)).filter((ms) => ms !== undefined));
    await Promise.all(roles.map((role) => role.stop()));
    // What was noted of this batch is not to make the next one a mass change.
    await pause(10_000);
  }
  return summary(times);
}

async function dependencies(url, samples) {
  const role = new Role('dependencies', { ports: samples });
  const ports = await role.call('start');
  await Promise.all(
    ports.map((port, i) => register(url, `needing-${i}`, [dependency('search', port, 'health')])),
  );
  await pause(2 * DEPENDENCY_INTERVAL_MS);
  const times = { died: [], revived: [] };
  const turn = async (i) => {
    await pause(i * 4000 + Math.random() * 1000);
    await role.call('die', i);
    times.died.push(await untilState(url, `needing-${i}`, (state) => state !== 'online'));
    await untilState(url, `needing-${i}`, (state) => state === 'degraded');
    await pause(Math.random() * 2000);
    await role.call('revive', i);
    times.revived.push(await untilState(url, `needing-${i}`, (state) => state === 'online'));
  };
  await Promise.all(ports.map((_, i) => turn(i)));
  await role.stop();
  return { died: summary(times.died), revived: summary(times.revived) };
}

/** By reason: an alarm of the prober's is one thing, a session that the agent itself gave up another. */
async function falseAlarms(url) {
  const alarms = {};
  for (const id of ids('bystander', BYSTANDERS)) {
    const { history } = await call(url, 'GET', `agents/${id}`);
    for (const { to_state, reason } of history)
      if (to_state !== 'online') alarms[reason] = (alarms[reason] ?? 0) + 1;
  }
  return alarms;
}

const dependency = (name, port, path) => ({
  name,
  type: 'http',
  target: `http://127.0.0.1:${port}/${path}`,
  critical: name === 'search',
});

function register(url, id, declared) {
  return call(url, 'POST', 'agent/register', {
    agent_id: id,
    capabilities: ['work'],
    dependencies: declared,
    heartbeat_interval_ms: 600_000,
  });
}

/** 1 000 agents with three dependencies each, all different, at the default intervals. */
async function cost(dispatcher) {
  const { url, pid, postgres } = dispatcher;
  const role = new Role('dependencies', { ports: FLEET.ports });
  const ports = await role.call('start');
  const names = ['search', 'store', 'model'];
  const leases = [];
  for (let i = 0; i < FLEET.agents; i += 50) {
    const batch = Array.from({ length: 50 }, (_, j) => i + j);
    leases.push(
      ...(await Promise.all(
        batch.map((a) =>
          register(
            url,
            `fleet-${a}`,
            names.map((name, d) => dependency(name, ports[(a * 3 + d) % ports.length], `${a}/${name}`)),
          ),
        ),
      )),
    );
  }
  // The first probes, and then two intervals in which each target finds its place.
  await pause(95_000);
  await role.call('perSecond');
  const before = cpuSnapshot({ dispatcher: pid, postgres: postgres.pid }, ['postgres']);
  await pause(60_000);
  const { used, seconds, others } = cpuBetween(
    before,
    cpuSnapshot({ dispatcher: pid, postgres: postgres.pid }, ['postgres']),
  );
  const starts = await role.call('perSecond');
  const mean = starts.reduce((a, b) => a + b, 0) / starts.length;
  const budget = await call(url, 'GET', 'probe/budget');
  const found = {
    'targets probed': budget.this_replica.targets,
    'probes a second': Math.round(mean * 10) / 10,
    'fullest second / mean': Math.round((Math.max(...starts) / mean) * 100) / 100,
    'core share of the dispatcher': Math.round((used.dispatcher / seconds) * 1000) / 1000,
    'core share of PostgreSQL': Math.round((used.postgres / seconds) * 1000) / 1000,
    'cores busy with others': Math.round(others * 100) / 100,
    'resident MiB': residentMib(pid),
    sockets: sockets(pid),
    stretch: budget.this_replica.stretch,
    'heartbeats a second': await heartbeats(url, leases),
  };
  await role.stop();
  return found;
}

async function heartbeats(url, leases) {
  const until = performance.now() + 10_000;
  let count = 0;
  const beat = async (from) => {
    for (let i = from; performance.now() < until; i += 64) {
      const { agent_id, lease_id } = leases[i % leases.length];
      await call(url, 'POST', 'agent/lease', {
        agent_id,
        lease_id,
        capacity: { in_flight: 0, pool_usage: 0 },
      });
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, i) => beat(i)));
  return Math.round(count / 10);
}

function residentMib(pid) {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

function sockets(pid) {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { samples: sorted.length, median: at(0.5), p99: at(0.99), most: sorted.at(-1) };
}
