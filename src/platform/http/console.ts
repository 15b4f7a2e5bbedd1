import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request of this route is answered without credentials. */
    open?: (request: FastifyRequest) => boolean;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

/**
 * What a page of the console may do: load its own files and talk to this server. The name of an agent or the error of
 * a task that became markup by mistake could still run nothing.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>Agent-Reach: the console is not built</title>
  <h1>The console is not built</h1>
  <p>The server runs, and its API answers. To build the console, run <code>npm run build</code> in the checkout and
  start the server again.</p>
  <p><a href="/api/docs">The API</a></p>
</html>
`;

interface File {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** Its name has the digest of its content, so it never changes. */
  readonly hashed: boolean;
  readonly encoded: Map<string, Promise<Buffer>>;
}

/** dist/console, seen from dist/platform/http and from src/platform/http (tests run the sources). */
const FOLDERS = ['../../console/', '../../../dist/console/'];
const INDEX = '/index.html';

/**
 * Serves the built console at `/`: its files, and its page for every other address that a browser opens, so that a
 * link into it can be reloaded. The API keeps its answers: whatever lies under `/api`, and whoever does not ask for a
 * page, gets the 404 of before. The files say nothing about anyone and are open; what they show comes from the API.
 */
export function serveConsole(app: NestFastifyApplication, folder = builtFolder()): void {
  const files = folder === undefined ? new Map<string, File>() : filesOf(folder);
  if (!files.has(INDEX)) {
    new Logger('console').warn({ msg: 'the console is not built; run npm run build', looked_in: folder });
    files.set(INDEX, fileOf(INDEX, Buffer.from(NOT_BUILT)));
  }
  const answering = (request: FastifyRequest) => answerTo(request, files);
  const open = (request: FastifyRequest) => answering(request) !== undefined;
  app
    .getHttpAdapter()
    .getInstance()
    .get('/*', { config: { open } }, async (request, reply) => {
      const file = answering(request);
      if (file === undefined) reply.callNotFound();
      else await send(file, request, reply);
      return reply;
    });
}

function builtFolder(): string | undefined {
  return FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
}

/** The file that answers a request, if the console does. */
function answerTo(request: FastifyRequest, files: ReadonlyMap<string, File>): File | undefined {
  const path = request.url.split('?', 1)[0] ?? '/';
  const file = files.get(path === '/' ? INDEX : path);
  if (file !== undefined) return file;
  // A file that is missing must not be answered with a page: a script of an older build would be parsed as HTML.
  const page = !/^\/(api|assets)(\/|$)/.test(path) && /\btext\/html\b/.test(request.headers.accept ?? '');
  return page ? files.get(INDEX) : undefined;
}

function filesOf(folder: string): Map<string, File> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const url = `/${path.slice(folder.length).replaceAll('\\', '/').replace(/^\//, '')}`;
      return [url, fileOf(url, readFileSync(path))];
    }),
  );
}

function fileOf(url: string, body: Buffer): File {
  return {
    type: TYPES[extname(url)] ?? 'application/octet-stream',
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    hashed: url.startsWith('/assets/'),
    encoded: new Map(),
  };
}

async function send(file: File, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply
    .headers(HEADERS)
    .header('content-type', file.type)
    .header('etag', file.etag)
    .header('vary', 'accept-encoding')
    .header('cache-control', file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (request.headers['if-none-match'] === file.etag) {
    await reply.status(304).send();
    return;
  }
  const encoding = encodingFor(request.headers['accept-encoding']);
  if (encoding === undefined) {
    await reply.send(file.body);
    return;
  }
  await reply.header('content-encoding', encoding).send(await encodedAs(encoding, file));
}

const ENCODERS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 9 }),
};
type Encoding = keyof typeof ENCODERS;

function encodingFor(accepted: string | string[] = ''): Encoding | undefined {
  const names = String(accepted)
    .split(',')
    .map((part) => part.trim())
    // A weight of nought means "not this one".
    .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
    .map((part) => part.split(';', 1)[0]);
  return (['br', 'gzip'] as const).find((encoding) => names.includes(encoding));
}

/** Compressed once, when first asked for, on a thread of the pool. */
function encodedAs(encoding: Encoding, file: File): Promise<Buffer> {
  const made = file.encoded.get(encoding) ?? ENCODERS[encoding](file.body);
  file.encoded.set(encoding, made);
  return made;
}
