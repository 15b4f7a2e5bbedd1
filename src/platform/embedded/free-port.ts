import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems hand out to outgoing connections, so that a restart finds its port again. */
const FIRST_PORT = 15_000;
const LAST_PORT = 29_999;
const ATTEMPTS = 50;

/** True when nothing listens on this loopback port. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A free port on the loopback interface, `preferred` when it is still free. */
export async function findFreePort(preferred: number | null): Promise<number> {
  if (preferred !== null && (await isPortFree(preferred))) return preferred;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port on 127.0.0.1 between ${FIRST_PORT} and ${LAST_PORT}`);
}
