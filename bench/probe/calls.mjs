/** What the parts of the probe bench ask of a dispatcher. */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent as HttpAgent, request } from 'undici';

const http = new HttpAgent({ connections: 64, pipelining: 1 });

export const ids = (name, count) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

export async function call(url, method, path, body) {
  const answer = await request(`${url}/api/v1/${path}`, {
    method,
    dispatcher: http,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return answer.body.json();
}

/** Resolves to the ms that it took. */
export async function untilState(url, id, wanted) {
  const since = performance.now();
  while (!wanted((await call(url, 'GET', `agents/${id}`)).state)) await pause(10);
  return Math.round(performance.now() - since);
}

export const dependency = (name, port, path) => ({
  name,
  type: 'http',
  target: `http://127.0.0.1:${port}/${path}`,
  critical: name === 'search',
});

/** An agent that nobody runs: it need not beat for ten minutes. */
export function register(url, id, declared) {
  return call(url, 'POST', 'agent/register', {
    agent_id: id,
    capabilities: ['work'],
    dependencies: declared,
    heartbeat_interval_ms: 600_000,
  });
}

/** By reason: an alarm of the prober's is one thing, a session that the agent itself gave up another. */
export async function alarmsOf(url, agentIds) {
  const alarms = {};
  for (const id of agentIds) {
    const { history } = await call(url, 'GET', `agents/${id}`);
    for (const { to_state, reason } of history)
      if (to_state !== 'online') alarms[reason] = (alarms[reason] ?? 0) + 1;
  }
  return alarms;
}
