import { loadConfig } from './platform/config/config.js';
import { endOnSignals } from './platform/lifecycle/signals.js';
import { serve } from './serve.js';
import { startFailure } from './start-failure.js';

/** Runs the server until SIGTERM or SIGINT. Exit code 2: the configuration is wrong; 1: it could not start. */
try {
  const config = loadConfig();
  const server = await serve(config);
  endOnSignals(process, config.shutdownGraceMs, () => server.stop());
} catch (error) {
  const { message, exitCode } = startFailure(error);
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
  // Something half started may hold the process; it has had its chance to close.
  setTimeout(() => process.exit(), 2000).unref();
}
