/** Sends jobs to pg-boss, one call each. Options: queue, postgres (url), callers, batch, backlog, payloadBytes. */
import PgBoss from 'pg-boss';
import { Flow } from '../roles/flow.mjs';
import { options, payloadOf, serveRole } from '../roles/role.mjs';

const boss = new PgBoss({ connectionString: options.postgres, max: 16, schedule: false });
boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
const payload = payloadOf(options.payloadBytes);

const flow = new Flow(() => boss.send(options.queue, payload), options);
serveRole({
  // The queue is made by the worker: both at once make the database deadlock.
  ready: () => boss.start().then(() => undefined),
  saturate: () => flow.saturate(),
  done: (done) => flow.setDone(done),
  stop: () => flow.stop(),
  // Its queues are tables of their own; one that is left behind costs the next nothing.
  obliterate: () => boss.stop({ graceful: false }),
});
