import { ConfigError, loadConfig } from './platform/config/config.js';
import { endOnSignals } from './platform/lifecycle/signals.js';
import { serve } from './serve.js';

/** Runs the server until SIGTERM or SIGINT. Exit code 2: the configuration is wrong; 1: it could not start. */
try {
  const config = loadConfig();
  const server = await serve(config);
  endOnSignals(process, config.shutdownGraceMs, () => server.stop());
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
  // Something half started may hold the process; it has had its chance to close.
  setTimeout(() => process.exit(), 2000).unref();
}
