import { TestQueues } from './queues.js';

/** The program of `OrderWorkerProcess`: each lane it is given is a line on standard output. */
const [kind, url = '', prefix = ''] = process.argv.slice(2);
const queues = kind === 'redis' ? TestQueues.onRedis(url, prefix) : TestQueues.onPostgres(url);
const queue = await queues.open({ worker: { lockDuration: 500, stalledInterval: 100 } });
await queue.consume(async (lane) => {
  process.stdout.write(`${lane}\n`);
  await new Promise(() => undefined);
});
// It does not outlive whoever started it.
process.stdin.on('end', () => process.exit()).resume();
