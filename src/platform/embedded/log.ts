import { Logger } from '@nestjs/common';

/** Structured log lines, fields first (the shape of pino). */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A {@link Log} on Nest's logger. */
export function nestLog(context: string): Log {
  const logger = new Logger(context);
  return {
    debug: (fields, msg) => logger.debug({ msg, ...fields }),
    info: (fields, msg) => logger.log({ msg, ...fields }),
    warn: (fields, msg) => logger.warn({ msg, ...fields }),
    error: (fields, msg) => logger.error({ msg, ...fields }),
  };
}
