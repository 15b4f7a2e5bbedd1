import { TestQueues } from './queues.js';

/**
 * A process that takes orders and never finishes one, made to be killed: `order-worker.ts redis|postgres url
 * [prefix]`. Each lane it was given is a line on standard output.
 */
const [kind, url = '', prefix = ''] = process.argv.slice(2);
const queues = kind === 'redis' ? TestQueues.onRedis(url, prefix) : TestQueues.onPostgres(url);
const queue = await queues.open({ worker: { lockDuration: 500, stalledInterval: 100 } });
await queue.consume(async (lane) => {
  process.stdout.write(`${lane}\n`);
  await new Promise(() => undefined);
});
