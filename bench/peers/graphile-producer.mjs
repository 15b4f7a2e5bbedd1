/** Adds jobs to graphile-worker, one call each. Options: queue, postgres (url), callers, batch, backlog, payloadBytes. */
import { Logger, makeWorkerUtils } from 'graphile-worker';
import { Flow } from '../roles/flow.mjs';
import { options, payloadOf, serveRole } from '../roles/role.mjs';

const logger = new Logger(() => () => undefined);
const payload = payloadOf(options.payloadBytes);
let utils;

const flow = new Flow(() => utils.addJob(options.queue, payload), options);
serveRole({
  ready: async () => {
    utils = await makeWorkerUtils({ connectionString: options.postgres, maxPoolSize: 16, logger });
    await utils.migrate();
  },
  saturate: () => flow.saturate(),
  done: (done) => flow.setDone(done),
  stop: () => flow.stop(),
  obliterate: () => utils.release(),
});
