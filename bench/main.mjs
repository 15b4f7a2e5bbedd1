/** `npm run bench -- <name>`: see args.mjs for the options. */
import { readArguments, USAGE, UsageError } from './args.mjs';
import { placement } from './placement.mjs';
import { probe } from './probe.mjs';
import { heartbeat } from './heartbeat.mjs';
import { dispatch } from './dispatch.mjs';
import { endAll, endOnSignals } from './system/processes.mjs';

const BENCHES = {
  dispatch,
  heartbeat,
  latency: (options) => dispatch({ ...options, latencyOnly: true }),
  probe,
  placement,
};

endOnSignals();
try {
  const options = readArguments(process.argv.slice(2));
  const run = BENCHES[options.bench];
  if (options.help) process.stdout.write(USAGE);
  else if (!run) throw new UsageError(`there is no bench "${options.bench}"`);
  else await run(options);
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  process.stderr.write(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : `${error.stack}\n`);
} finally {
  await endAll();
}
