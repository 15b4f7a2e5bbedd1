/** What the SDK logs to. `console` and pino (with swapped arguments) fit with a line of glue. */
export interface Logger {
  debug(message: string, facts?: Record<string, unknown>): void;
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
  error(message: string, facts?: Record<string, unknown>): void;
}

function toStderr(level: string) {
  return (message: string, facts?: Record<string, unknown>) => {
    process.stderr.write(`agent-reach ${level}: ${message}${facts ? ` ${JSON.stringify(facts)}` : ''}\n`);
  };
}

/** Warnings and errors to standard error, the rest nowhere. */
export const defaultLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: toStderr('warn'),
  error: toStderr('error'),
};
