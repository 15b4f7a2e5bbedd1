import type { LoggerService } from '@nestjs/common';
import { pino, type Logger as PinoLogger } from 'pino';
import type { Config } from '../config/config.js';

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Nest tells of each module and route that it wires; that is for whoever debugs the wiring. */
const WIRING = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
  'NestApplication',
]);

/** While the application starts these report an error and throw it too; whoever started it tells of it. */
const RETHROWN = new Set(['ExceptionHandler', 'NestApplication']);

/**
 * Nest's logger on pino. A message is a text, or an object with `msg` and fields:
 * `log.warn({ msg: 'offer refused', task_id })`. An error stands under `err`.
 */
export class ReachLogger implements LoggerService {
  constructor(private readonly pinoLogger: PinoLogger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes the class name last, and the stack of an error before it. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const name = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    if (level === 'info' && name !== undefined && WIRING.has(name)) level = 'debug';
    if (level === 'error' && name !== undefined && RETHROWN.has(name)) return;
    const context = name === undefined ? {} : { context: name };
    const stack =
      level === 'error' && rest.length > 1 && typeof rest[0] === 'string' ? { stack: rest[0] } : {};
    if (message instanceof Error) this.pinoLogger[level]({ ...context, err: message }, message.message);
    else if (typeof message === 'object' && message !== null)
      this.pinoLogger[level]({ ...context, ...message });
    else this.pinoLogger[level]({ ...context, ...stack }, String(message));
  }
}

/** The logger of this process: JSON lines, or lines for people on a terminal. */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat' | 'replicaId'>,
  stdout: { isTTY?: boolean } = process.stdout,
): Promise<ReachLogger> {
  const options = {
    level: config.logLevel,
    base: { replica: config.replicaId },
    timestamp: pino.stdTimeFunctions.isoTime,
    // A Redis command that failed comes with its arguments, and AUTH has the password among them.
    redact: { paths: ['err.command.args'], remove: true },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const pretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && stdout.isTTY === true);
  if (!pretty) return new ReachLogger(pino(options));
  const { default: prettyStream } = await import('pino-pretty');
  return new ReachLogger(
    pino(options, prettyStream({ ignore: 'replica,context', messageFormat: '{context} {msg}' })),
  );
}
