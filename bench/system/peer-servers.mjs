import { execFileSync } from 'node:child_process';
import { chown, existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, temporaryDirectory } from './servers.mjs';
import { startServer } from './processes.mjs';

const own = promisify(chown);
const RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const EPMD = '/usr/bin/epmd';
const NATS = ['/usr/sbin/nats-server', '/usr/bin/nats-server', '/usr/local/bin/nats-server'].find(existsSync);

/** What a peer needs on this machine beside its client, or undefined when all of it is there. */
export const MISSING = {
  clients: () =>
    existsSync(new URL('../peers/node_modules', import.meta.url))
      ? undefined
      : 'its client; run npm ci --prefix bench/peers',
  nats: () => (NATS ? undefined : 'nats-server; install the package of that name'),
  rabbitmq: () => (existsSync(RABBITMQ) ? undefined : 'rabbitmq-server; install the package of that name'),
};

/** JetStream on files, with its own defaults. */
export async function startNats() {
  const directory = await temporaryDirectory('nats');
  const port = await freePort();
  const { pid } = await startServer(
    NATS,
    ['--jetstream', '--store_dir', directory, '--addr', '127.0.0.1', '--port', String(port)],
    { ready: (line) => (line.includes('Server is ready') ? true : undefined) },
  );
  return { pid, url: `127.0.0.1:${port}` };
}

/** A broker of its own, with its own defaults; it runs as the account of the package when we are root. */
export async function startRabbitmq() {
  const directory = await temporaryDirectory('rabbitmq');
  const [port, distribution, epmd] = [await freePort(), await freePort(), await freePort()];
  const config = join(directory, 'rabbitmq.conf');
  await writeFile(config, `listeners.tcp.1 = 127.0.0.1:${port}\n`);
  const plugins = join(directory, 'plugins');
  await writeFile(plugins, '[].\n');
  await mkdir(join(directory, 'mnesia'));
  await mkdir(join(directory, 'log'));
  if (process.getuid?.() === 0) {
    const id = (flag) => Number(execFileSync('id', [flag, 'rabbitmq'], { encoding: 'utf8' }));
    for (const name of ['', 'mnesia', 'log', 'rabbitmq.conf', 'plugins'])
      await own(join(directory, name), id('-u'), id('-g'));
    await chmod(directory, 0o755);
  }
  // Started here, else the broker starts one that outlives it.
  await startServer(EPMD, ['-d', '-address', '127.0.0.1', '-port', String(epmd)], {
    ready: (line) => (line.includes('epmd running') ? true : undefined),
  });
  const { pid } = await startServer(RABBITMQ, [], {
    ready: (line) => (line.includes('Starting broker... completed') ? true : undefined),
    env: {
      HOME: directory,
      RABBITMQ_NODENAME: `bench-${port}@localhost`,
      RABBITMQ_MNESIA_BASE: join(directory, 'mnesia'),
      RABBITMQ_LOG_BASE: join(directory, 'log'),
      RABBITMQ_CONFIG_FILE: config,
      RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
      RABBITMQ_PID_FILE: join(directory, 'pid'),
      RABBITMQ_DIST_PORT: String(distribution),
      ERL_EPMD_PORT: String(epmd),
      ERL_EPMD_ADDRESS: '127.0.0.1',
    },
  });
  return { pid, url: `amqp://guest:guest@127.0.0.1:${port}` };
}
