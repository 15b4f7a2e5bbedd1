/** Heartbeats as fast as they are answered. Options: url, leases ({agent_id, lease_id}), over ('rest' or 'sessions'), inFlight. */
import { once } from 'node:events';
import { Pool } from 'undici';
import WebSocket from 'ws';
import { options, serveRole } from './role.mjs';

const { url, leases, over, inFlight } = options;
const capacity = { in_flight: 0, pool_usage: 0 };
let answered = 0;
let going = false;

const pool = new Pool(url, { connections: inFlight });
const headers = { 'content-type': 'application/json' };

async function rest(from) {
  for (let i = from; going; i += inFlight) {
    const body = JSON.stringify({ ...leases[i % leases.length], capacity });
    const answer = await pool.request({ method: 'POST', path: '/api/v1/agent/lease', headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`);
    answered += 1;
  }
}

const sockets = [];

/** One session of a lease; a heartbeat follows the answer to the one before. */
async function session(lease) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/session`);
  await once(socket, 'open');
  const beat = (ref) => socket.send(JSON.stringify({ type: 'heartbeat', ref, capacity }));
  const resumed = new Promise((resolve, reject) =>
    socket.on('message', (data) => {
      const { type, ref, problem } = JSON.parse(data);
      if (type === 'error') reject(new Error(problem.detail));
      if (type === 'resumed') resolve();
      if (type !== 'heartbeat') return;
      answered += 1;
      if (going) beat(ref + 1);
    }),
  );
  socket.send(JSON.stringify({ type: 'resume', ref: 0, ...lease }));
  await resumed;
  sockets.push(() => beat(1));
}

serveRole({
  ready: () => (over === 'sessions' ? Promise.all(leases.map(session)).then(() => undefined) : undefined),
  start() {
    going = true;
    if (over === 'sessions') for (const begin of sockets) begin();
    else for (let n = 0; n < inFlight; n++) void rest(n);
  },
  answered: () => answered,
  stop: () => void (going = false),
});
