import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { until } from './until.js';

export interface Call {
  method: string;
  path: string;
  rpc: { id?: number | string; method?: string; params?: Record<string, unknown> };
  headers: IncomingMessage['headers'];
}
export type Answer = (call: Call, res: ServerResponse) => void;

/**
 * An HTTP server that answers each call as `answer` says, and remembers the calls. Afterwards no connection to
 * it may be open that it did not keep open itself.
 */
export async function serving(
  answer: Answer,
  test: (url: string, calls: Call[]) => Promise<void>,
): Promise<void> {
  const calls: Call[] = [];
  let open = 0;
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      const rpc = (body === '' ? {} : JSON.parse(body)) as Call['rpc'];
      const call = { method: req.method ?? '', path: req.url ?? '', rpc, headers: req.headers };
      calls.push(call);
      answer(call, res);
    });
  });
  server.on('connection', (socket) => {
    open++;
    socket.on('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls);
    await until('every connection is closed', () => open === 0);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export const json = (res: ServerResponse, body: object, headers: Record<string, string> = {}, status = 200) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
