import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { sentencesOf } from './lib/text.js';

/*
 * A small HTTP service that serves text files: GET /documents lists their names, GET /documents/<name> gives one.
 * Usage: node document-service.js <port, 0 for a free one> <file or directory>...
 */

const LARGEST_BYTES = 150_000;
/** Less is a list or a table, and no text to work on. */
const FEWEST_SENTENCES = 5;

const [portText = '0', ...places] = process.argv.slice(2);
const documents = new Map(places.flatMap(filesAt).map((file) => [basename(file), file]));

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://service').pathname);
  if (path === '/documents') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify([...documents.keys()].sort()));
    return;
  }
  const file = documents.get(path.replace(/^\/documents\//, ''));
  if (file === undefined) {
    response.statusCode = 404;
    response.end('no such document\n');
    return;
  }
  response.setHeader('content-type', 'text/markdown; charset=utf-8');
  response.end(readFileSync(file));
});

server.listen(Number(portText), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

function filesAt(place: string): string[] {
  const info = statSync(place, { throwIfNoEntry: false });
  if (!info) return [];
  if (info.isDirectory()) return readdirSync(place).flatMap((name) => filesAt(join(place, name)));
  if (!/\.(md|txt)$/.test(place) || info.size > LARGEST_BYTES) return [];
  return sentencesOf(readFileSync(place, 'utf8')).length >= FEWEST_SENTENCES ? [place] : [];
}
