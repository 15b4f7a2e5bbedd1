/** What it costs to probe a fleet. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuBetween, cpuSnapshot } from '../system/cpu.mjs';
import { Role } from '../system/processes.mjs';
import { call, dependency, register } from './calls.mjs';

/** Targets that share a port: a host is asked at most once a second. */
const TARGETS_OF_A_PORT = 10;

const NAMES = ['search', 'store', 'model'];

/** A fleet of `agents` with three dependencies each, all different, at the default intervals. */
export async function cost(dispatcher, agents) {
  const { url, pid, postgres } = dispatcher;
  const role = new Role('dependencies', {
    ports: Math.ceil((agents * NAMES.length) / TARGETS_OF_A_PORT),
  });
  const ports = await role.call('start');
  for (let i = 0; i < agents; i += 50) {
    const batch = Array.from({ length: 50 }, (_, j) => i + j);
    await Promise.all(
      batch.map((a) =>
        register(
          url,
          `fleet-${a}`,
          NAMES.map((name, d) =>
            dependency(name, ports[(a * NAMES.length + d) % ports.length], `${a}/${name}`),
          ),
        ),
      ),
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
  };
  await role.stop();
  return found;
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
