/**
 * A process of its own that runs the embedded Postgres of the directory in its first argument: prints one
 * line of JSON, `{ url, pid }` or `{ error, fault }`, and lives until it is killed, or stops the server on
 * SIGTERM. It runs what was built.
 */
import { startEmbeddedPostgres } from '../../dist/platform/embedded/embedded-postgres.js';

const nothing = () => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

try {
  const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', logger });
  process.stdout.write(`${JSON.stringify({ url: server.url, pid: server.pid })}\n`);
  // The pipe from the test is what keeps this process alive, and what ends it with the test.
  process.stdin.on('end', () => process.exit(0)).resume();
  process.on('SIGTERM', () => void server.stop().then(() => process.exit(0)));
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error.message, fault: error.fault })}\n`);
}
