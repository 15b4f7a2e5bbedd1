/** No-op workers of graphile-worker, without its local queue. Options: queue, postgres (url), concurrency. */
import { Logger, run } from 'graphile-worker';
import { options, reportDone, serveRole } from '../roles/role.mjs';

let done = 0;
let runner;

serveRole({
  ready: async () => {
    runner = await run({
      connectionString: options.postgres,
      concurrency: options.concurrency,
      maxPoolSize: 12,
      pollInterval: 500,
      noHandleSignals: true,
      logger: new Logger(() => () => undefined),
      taskList: { [options.queue]: () => void done++ },
    });
  },
  count: () => done,
  stop: () => runner.stop(),
});
reportDone(() => done);
