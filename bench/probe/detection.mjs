/** How soon a death, a standstill and the loss of a dependency are noticed. */
import { setTimeout as pause } from 'node:timers/promises';
import { Role } from '../system/processes.mjs';
import { startDispatcher } from '../system/servers.mjs';
import { alarmsOf, call, dependency, ids, register, untilState } from './calls.mjs';

const BYSTANDERS = 16;
const VICTIMS_AT_ONCE = 3;
const DEPENDENCY_INTERVAL_MS = 5000;

/** Kills and stops agents, and kills what others need, among bystanders that nothing is done to. */
export async function detection(options, note) {
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
  note('false alarms among bystanders', await alarmsOf(first.url, ids('bystander', BYSTANDERS)));
  await bystanders.stop();
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

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { samples: sorted.length, median: at(0.5), p99: at(0.99), most: sorted.at(-1) };
}
