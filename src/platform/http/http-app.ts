import type { Server, Socket } from 'node:net';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ReachError } from '../../core/errors.js';
import type { Config } from '../config/config.js';
import { Shutdown } from '../lifecycle/shutdown.js';
import { Metrics } from '../telemetry/metrics.js';
import { installHooks } from './hooks.js';
import { serveConsole } from './console.js';
import { serveDocs } from './docs.js';
import { PROBLEM_TYPE, ProblemFilter, problemOf } from './problem.filter.js';
import { NoQueryGuard } from './no-query.guard.js';
import { RouteTable } from './routes.js';
import { SchemaPipe } from './schema.pipe.js';
import { traceOf } from './trace.js';

/** Every route outside of the API prefix. */
const UNPREFIXED = ['livez', 'readyz', 'startupz', 'metrics', '.well-known/jwks.json'];

/**
 * Longest path parameter that reaches a schema. Node refuses longer request lines by itself (16 KiB of
 * headers), so an over-long id is told apart by the schema, as 400, and never reads as an unknown path.
 */
const MAX_PARAM_LENGTH = 32_768;

/** The Fastify adapter with our limits. */
export function httpAdapter(config: Config): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: config.bodyLimitBytes,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Idle connections are cut at shutdown; those with a request in flight get to finish.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: 60_000,
    clientErrorHandler,
    frameworkErrors,
  });
}

/** Options that an application must be created with, so that our body parser is the only one. */
export const APP_OPTIONS = { bodyParser: false } as const;

/**
 * Gives an application prefix, hooks, validation, problem documents, metrics, docs and console. Call before `init`.
 *
 * @param consoleFolder where the built console lies, if not where `npm run build` puts it
 */
export function setUpHttp(app: NestFastifyApplication, config: Config, consoleFolder?: string): void {
  const routes = new RouteTable();
  const fastify = app.getHttpAdapter().getInstance();
  installHooks(fastify, config, routes);
  measure(app);
  usePrefix(app);
  app.useGlobalGuards(new NoQueryGuard());
  app.useGlobalPipes(new SchemaPipe());
  app.useGlobalFilters(new ProblemFilter((path) => routes.nearMiss(path)));
  serveDocs(app);
  serveConsole(app, consoleFolder);
  const sockets = socketsOf(app.getHttpServer());
  app.get(Shutdown).on('clients', 'http', (limitMs) => closeHttp(app, sockets, limitMs));
}

/** The open connections; Node's own list leaves out those that were upgraded, and a server ends only with all. */
function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

const IDLE_EVERY_MS = 50;

/** Takes no new connection, lets requests in flight finish, and cuts what has not by 80 % of the limit. */
async function closeHttp(
  app: NestFastifyApplication,
  sockets: ReadonlySet<Socket>,
  limitMs: number,
): Promise<void> {
  const server = app.getHttpServer();
  // A connection whose request was under way when the listener closed is kept alive once that is answered.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_EVERY_MS);
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, limitMs * 0.8);
  try {
    await app.getHttpAdapter().close();
  } finally {
    clearTimeout(cut);
    clearInterval(idle);
  }
}

/** Puts every route under `/api/v1`, but for those that orchestrators of containers ask. */
export function usePrefix(app: NestFastifyApplication): void {
  app.setGlobalPrefix('api/v1', { exclude: UNPREFIXED });
}

function measure(app: NestFastifyApplication): void {
  const seconds = app
    .get(Metrics)
    .histogram('reach_http_request_duration_seconds', 'Time to answer a request', [
      'method',
      'route',
      'status',
    ]);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onResponse', (request, reply, done) => {
      // The route pattern, never the path: series must not grow with ids.
      const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
      seconds.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
      done();
    });
}

/** A URL that the router could not decode never reaches a route, and so not the filter either. */
function frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { traceId } = traceOf(request.headers.traceparent);
  const problem = new ReachError('VALIDATION_FAILED', `The path is not a valid URL: ${error.message}`);
  void reply
    .status(problem.status)
    .header('content-type', PROBLEM_TYPE)
    .header('x-trace-id', traceId)
    .send(problemOf(problem, request.raw.url ?? '', traceId));
}

/** What Node could not parse as HTTP has no request; it still gets a problem document. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const [status, title] = tooLarge ? [431, 'Request Header Fields Too Large'] : [400, 'Bad Request'];
  const body = JSON.stringify({
    type: 'https://agentreach.dev/problems/validation-failed',
    title,
    status,
    detail: tooLarge
      ? 'Request line and headers have more than 16 KiB'
      : 'This is not a well-formed HTTP request',
    code: 'REACH_VALIDATION_FAILED',
    retryable: false,
  });
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
