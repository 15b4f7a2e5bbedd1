/**
 * Agents over REST, one call per step: claim (long poll, one task), ack, complete. Each agent has `loops` of
 * them, as a program without an SDK would. Options: url, capability, agents, loops.
 */
import { Pool } from 'undici';
import { options, reportDone, serveRole } from './role.mjs';

const { agents, loops, url, capability } = options;
const pool = new Pool(url, { connections: agents * loops });
const headers = { 'content-type': 'application/json' };
let done = 0;
let going = true;

async function post(path, body) {
  const answer = await pool.request({
    method: 'POST',
    path: `/api/v1/${path}`,
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

async function work(agent_id, lease_id) {
  while (going) {
    const { deliveries } = await post('deliveries/claim', { agent_id, lease_id, max: 1, wait_ms: 1000 });
    for (const { delivery_id } of deliveries) {
      const { execute } = await post(`deliveries/${delivery_id}/ack`, { lease_id });
      if (!execute) continue;
      await post(`deliveries/${delivery_id}/complete`, {
        lease_id,
        outputs: { ok: true, summary: 'no issues found' },
      });
      done++;
    }
  }
}

const running = [];
async function start(agent_id) {
  const { lease_id } = await post('agent/register', {
    agent_id,
    name: capability,
    capabilities: [capability],
    max_concurrency: loops,
    lease_ttl_ms: 600_000,
  });
  for (let n = 0; n < loops; n++) {
    running.push(
      work(agent_id, lease_id).catch((error) => process.stderr.write(`rest agent: ${error.message}\n`)),
    );
  }
  return () => post('agent/deregister', { agent_id, lease_id, drain_ms: 0 });
}

let goodbyes = [];
serveRole({
  ready: async () => {
    goodbyes = await Promise.all(Array.from({ length: agents }, (_, n) => start(`${capability}-${n}`)));
  },
  stop: async () => {
    going = false;
    await Promise.all(running);
    await Promise.all(goodbyes.map((goodbye) => goodbye()));
  },
});
reportDone(() => done);
