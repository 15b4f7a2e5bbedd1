/** A fleet to which nothing is done but work: how often somebody is called dead all the same. */
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { cpuBetween, cpuSnapshot } from '../system/cpu.mjs';
import { Role } from '../system/processes.mjs';
import { startDispatcher } from '../system/servers.mjs';
import { alarmsOf, dependency, ids } from './calls.mjs';

const PROCESSES = 8;
const AGENTS_OF_A_PROCESS = 25;
const PORTS = 50;
const TASKS_PER_SECOND = 200;

/** 200 agents with a session and a dependency, asked every 2 s, under load for `minutes`. */
export async function healthy({ dist, minutes }) {
  const { url, pid } = await startDispatcher(dist, {
    settings: { REACH_ECHO_INTERVAL_MS: '2000', REACH_DEPENDENCY_INTERVAL_MS: '5000' },
  });
  const servers = new Role('dependencies', { ports: PORTS });
  const ports = await servers.call('start');
  const fleet = ids('healthy', PROCESSES * AGENTS_OF_A_PROCESS);
  const roles = Array.from({ length: PROCESSES }, (_, i) => {
    const own = fleet.slice(i * AGENTS_OF_A_PROCESS, (i + 1) * AGENTS_OF_A_PROCESS);
    return new Role('echo-agent', {
      url,
      ids: own,
      dependencies: [dependency('search', ports[i % ports.length], `of/${i}`)],
    });
  });
  for (const role of roles) await role.call('start');
  const load = new Role('load', { url, capability: 'work', callers: 64, batch: 1, payloadBytes: 300 });
  await load.call('ready');
  const before = cpuSnapshot({ dispatcher: pid }, []);
  load.tell('pace', TASKS_PER_SECOND);
  await pause(minutes * 60_000);
  const { sent, refused } = await load.call('stop');
  const { seconds, others } = cpuBetween(before, cpuSnapshot({ dispatcher: pid }, []));
  const asked = await probesOf(url);
  const alarms = await alarmsOf(url, fleet);
  await Promise.all([...roles, servers, load].map((role) => role.stop()));
  return {
    agents: fleet.length,
    minutes: Math.round(seconds / 6) / 10,
    'tasks sent': sent,
    'tasks refused': refused,
    'probes by layer': asked,
    alarms,
    'cores busy with others': Math.round(others * 100) / 100,
  };
}

/** From the dispatcher's metrics: probes by layer, and those that failed. */
async function probesOf(url) {
  const answer = await request(`${url}/metrics`);
  const found = {};
  for (const line of (await answer.body.text()).split('\n')) {
    const [, what, labels, count] =
      /^reach_probe_(duration_seconds_count|failures_total)\{(.*)\} (\d+)/.exec(line) ?? [];
    if (what === undefined) continue;
    const name = labels.replace(/(layer|kind)="([^"]*)"/g, '$2').replace(',', ' ');
    found[what === 'failures_total' ? `failed: ${name}` : name] = Number(count);
  }
  return found;
}
