import { ConfigError } from './platform/config/config.js';
import { StartError } from './platform/lifecycle/start-error.js';

/** What is told when the server cannot start, and how the process ends: 2 for a wrong configuration. */
export function startFailure(error: unknown): { message: string; exitCode: 1 | 2 } {
  if (error instanceof ConfigError) return { message: error.message, exitCode: 2 };
  if (error instanceof StartError) return { message: error.message, exitCode: 1 };
  return { message: (error instanceof Error && error.stack) || String(error), exitCode: 1 };
}

/** An error of listening as one that says what to do; anything else is passed through. */
export function explainListenError(error: unknown, host: string, port: number): unknown {
  const sentence = listenSentence((error as NodeJS.ErrnoException | null)?.code, host, port);
  return sentence === undefined ? error : new StartError(sentence, { cause: error });
}

function listenSentence(code: string | undefined, host: string, port: number): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return (
        `Port ${port} of ${host} is in use by another process. ` +
        'Stop it, or choose another port with REACH_HTTP_PORT (0 takes a free one).'
      );
    case 'EACCES':
      return `This user may not listen on port ${port} of ${host}. Choose another one with REACH_HTTP_PORT.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine (${code}). Choose another one with REACH_HTTP_HOST.`;
    default:
      return undefined;
  }
}
