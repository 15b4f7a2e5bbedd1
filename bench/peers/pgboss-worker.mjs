/** No-op workers of pg-boss that fetch and complete one job at a time. Options: queue, postgres (url), loops. */
import { setTimeout as wait } from 'node:timers/promises';
import PgBoss from 'pg-boss';
import { options, reportDone, serveRole } from '../roles/role.mjs';

const NOTHING_THERE_MS = 5;
const boss = new PgBoss({ connectionString: options.postgres, max: 16, schedule: false });
boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
let done = 0;
let going = true;

async function work() {
  while (going) {
    const [job] = await boss.fetch(options.queue);
    if (job === undefined) {
      await wait(NOTHING_THERE_MS);
      continue;
    }
    await boss.complete(options.queue, job.id, { ok: true, summary: 'no issues found' });
    done++;
  }
}

let loops = [];
serveRole({
  ready: async () => {
    await boss.start();
    await boss.createQueue(options.queue);
    loops = Array.from({ length: options.loops }, work);
  },
  count: () => done,
  stop: async () => {
    going = false;
    await Promise.all(loops);
    await boss.stop({ graceful: false });
  },
});
reportDone(() => done);
