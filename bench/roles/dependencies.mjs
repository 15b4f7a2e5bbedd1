/** HTTP dependencies, a port each; they die and come back as told, and note when they are asked. */
import { createServer } from 'node:http';
import { options, serveRole } from './role.mjs';

const asked = [];
const servers = Array.from({ length: options.ports }, () => ({
  port: 0,
  server: undefined,
  sockets: new Set(),
}));

async function listen(place) {
  const server = createServer((request, response) => {
    asked.push(performance.now());
    request.resume();
    response.end('{}');
  });
  server.on('connection', (socket) => {
    place.sockets.add(socket);
    socket.once('close', () => place.sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(place.port, '127.0.0.1', resolve));
  place.port = server.address().port;
  place.server = server;
}

serveRole({
  async start() {
    for (const place of servers) await listen(place);
    return servers.map(({ port }) => port);
  },
  die(index) {
    const { server, sockets } = servers[index];
    server.close();
    for (const socket of sockets) socket.destroy();
  },
  revive: (index) => listen(servers[index]),
  /** How often it was asked in each full second since the last call. */
  perSecond() {
    const [first] = asked;
    const seconds = [];
    for (const at of asked) {
      const second = Math.floor((at - first) / 1000);
      seconds[second] = (seconds[second] ?? 0) + 1;
    }
    asked.length = 0;
    return Array.from(seconds, (n) => n ?? 0).slice(0, -1);
  },
});
