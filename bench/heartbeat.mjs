/** Heartbeats a second, over REST and over sessions, and what each costs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ids, register } from './probe/calls.mjs';
import { cpuBetween, cpuSnapshot } from './system/cpu.mjs';
import { describeMachine } from './system/machine.mjs';
import { Role } from './system/processes.mjs';
import { startDispatcher } from './system/servers.mjs';

const AGENTS = 1000;
const SESSIONS = 200;
const IN_FLIGHT = 128;

/** Rounds of both ways in turn; `most a second of one core` is what one core would do with nothing but them. */
export async function heartbeat(options) {
  const dispatcher = await startDispatcher(options.dist, {});
  const { url, pid, postgres } = dispatcher;
  const machine = await describeMachine(postgres.url);
  const leases = [];
  for (const id of ids('beating', AGENTS)) {
    const { agent_id, lease_id } = await register(url, id, []);
    leases.push({ agent_id, lease_id });
  }
  const turns = [];
  for (let round = 1; round <= options.rounds; round++)
    for (const over of ['rest', 'sessions']) {
      const some = over === 'sessions' ? leases.slice(0, SESSIONS) : leases;
      const role = new Role('heartbeats', { url, leases: some, over, inFlight: IN_FLIGHT });
      await role.call('ready');
      role.tell('start');
      await pause(options.warmUpSeconds * 1000);
      const pids = { dispatcher: pid, postgres: postgres.pid, beating: role.pid };
      const from = await role.call('answered');
      const before = cpuSnapshot(pids, ['postgres']);
      await pause(options.seconds * 1000);
      const count = (await role.call('answered')) - from;
      const { used, seconds, others } = cpuBetween(before, cpuSnapshot(pids, ['postgres']));
      await role.call('stop');
      await role.stop();
      const us = (name) => Math.round((used[name] / count) * 1e6);
      const turn = {
        round,
        over,
        'a second': Math.round(count / seconds),
        'us of the dispatcher': us('dispatcher'),
        'us of PostgreSQL': us('postgres'),
        'us of the agents': us('beating'),
        'most a second of one core': Math.round(count / used.dispatcher),
        'cores busy with others': Math.round(others * 100) / 100,
      };
      turns.push(turn);
      process.stdout.write(`${JSON.stringify(turn)}\n`);
    }
  if (options.out === '-') return;
  await mkdir(options.out, { recursive: true });
  await writeFile(join(options.out, 'heartbeat.json'), `${JSON.stringify({ machine, turns }, null, 2)}\n`);
}
