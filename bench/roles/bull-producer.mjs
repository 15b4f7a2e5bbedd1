/** Adds jobs to raw BullMQ. Options: those of bull.mjs and callers, batch, backlog, payloadBytes. */
import { openQueue } from './bull.mjs';
import { Flow } from './flow.mjs';
import { options, payloadOf, serveRole } from './role.mjs';

const queue = openQueue();
const payload = payloadOf(options.payloadBytes);
const job = () => ({ name: 'task', data: payload });

function submit(count) {
  if (options.batch === 1) return queue.add('task', payload);
  return queue.addBulk(Array.from({ length: count }, job));
}

const flow = new Flow(submit, options);
serveRole({
  ready: () => queue.waitUntilReady().then(() => undefined),
  saturate: () => flow.saturate(),
  done: (done) => flow.setDone(done),
  stop: () => flow.stop(),
  obliterate: () => queue.obliterate({ force: true }),
});
