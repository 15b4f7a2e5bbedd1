/** Enqueues tasks over HTTP. Options: url, capability, callers, batch, backlog, payloadBytes. */
import { Pool } from 'undici';
import { Flow } from './flow.mjs';
import { options, payloadOf, serveRole } from './role.mjs';

const pool = new Pool(options.url, { connections: options.callers });
const payload = payloadOf(options.payloadBytes);
const headers = { 'content-type': 'application/json' };

async function post(path, body, count) {
  const answer = await pool.request({ method: 'POST', path: `/api/v1/${path}`, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text.slice(0, 300)}`);
  const json = JSON.parse(text);
  if (count > 1 && json.accepted !== count) throw new Error(`${json.accepted} of ${count} taken`);
}

async function submit(count, stampUs) {
  const task = () =>
    JSON.stringify({
      capability: options.capability,
      idempotent: true,
      payload: stampUs === undefined ? payload : { ...payload, stampUs },
    });
  if (options.batch === 1) return post('tasks', task(), 1);
  await post('tasks/batch', `{"tasks":[${Array.from({ length: count }, task).join()}]}`, count);
}

const flow = new Flow(submit, options);
serveRole({
  ready: () => undefined,
  saturate: () => flow.saturate(),
  pace: (rate) => flow.pace(rate),
  done: (done) => flow.setDone(done),
  stop: () => flow.stop(),
});
