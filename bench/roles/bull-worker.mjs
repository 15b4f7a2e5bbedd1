/** A no-op worker of raw BullMQ. Options: those of bull.mjs and concurrency. */
import { openWorker } from './bull.mjs';
import { options, reportDone, serveRole } from './role.mjs';

let done = 0;
const worker = openWorker(async () => ({ ok: true, summary: 'no issues found' }), options.concurrency);
worker.on('completed', () => done++);
worker.on('error', (error) => process.stderr.write(`bullmq worker: ${error.message}\n`));

serveRole({
  ready: () => worker.waitUntilReady().then(() => undefined),
  count: () => done,
  stop: () => worker.close(true),
});
reportDone(() => done);
