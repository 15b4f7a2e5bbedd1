import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { HttpAdapterHost } from '@nestjs/core';
import type { Sql } from '../platform/postgres/sql.js';
import { Canary } from './canary.js';

let server: Server;
let connections = 0;
let status = 200;
let ledger: () => Promise<unknown>;
let canary: Canary;

beforeEach(async () => {
  connections = 0;
  status = 200;
  ledger = () => Promise.resolve();
  server = createServer((_, response) => response.writeHead(status).end('{}'));
  server.on('connection', () => (connections += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const http = { httpAdapter: { getHttpServer: () => server } } as unknown as HttpAdapterHost;
  canary = new Canary(http, { run: () => ledger() } as unknown as Sql);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('each look needs a connection of its own: an old one works on where nobody can make a new one', async () => {
  for (let i = 1; i <= 5; i++) {
    expect(await canary.check()).toBeUndefined();
    // What it holds on to is free for the next one.
    await new Promise(setImmediate);
    expect(connections).toBe(i);
  }
});

test('it says which of the two does not work', async () => {
  status = 503;
  expect(await canary.check()).toBe('our own port does not answer: HTTP 503');
  status = 200;
  ledger = () => Promise.reject(new Error('too many clients'));
  expect(await canary.check()).toBe('PostgreSQL does not answer: too many clients');
  ledger = () => new Promise(() => undefined);
  expect(await canary.check()).toBe('PostgreSQL does not answer: no answer in 2000 ms');
});
