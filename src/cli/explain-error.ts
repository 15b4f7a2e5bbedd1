import { ManifestError, ReachApiError, ReachConnectionError, ReachTimeoutError } from '@agent-reach/sdk';
import { ConfigError } from '../platform/config/config.js';
import { StartError } from '../platform/lifecycle/start-error.js';
import { printable } from './output/text.js';
import { CommandFailed, UsageError } from './usage-error.js';

export interface Explained {
  message: string;
  exitCode: 1 | 2;
}

/** What a person is told about an error, and how the process ends. A bug keeps its stack. */
export function explainError(error: unknown): Explained {
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof ManifestError)
    return { message: error.message, exitCode: 2 };
  if (error instanceof CommandFailed || error instanceof ReachTimeoutError || error instanceof StartError)
    return { message: error.message, exitCode: 1 };
  if (error instanceof ReachConnectionError) return { message: explainAbsence(error), exitCode: 1 };
  if (error instanceof ReachApiError) return { message: explainRefusal(error), exitCode: 1 };
  if (error instanceof TypeError && /is not a URL/.test(error.message))
    return { message: error.message, exitCode: 2 };
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error), exitCode: 1 };
}

function explainAbsence(error: ReachConnectionError): string {
  return (
    `${error.message}\n` +
    '  Is the centre running? Start one with "reach serve",\n' +
    '  or say where it is with --url or REACH_URL.'
  );
}

function explainRefusal(error: ReachApiError): string {
  const lines = [`${error.detail} (${error.code})`];
  for (const { pointer, detail } of error.errors)
    if (!error.detail.includes(detail)) lines.push(`  ${pointer || '/'}: ${detail}`);
  if (error.code === 'REACH_UNAUTHENTICATED') lines.push('  Give a token with --token or REACH_TOKEN.');
  if (error.code === 'REACH_NOT_FOUND') lines.push('  Is it in another namespace? See --namespace.');
  if (error.traceId !== undefined && error.status >= 500) lines.push(`  trace ${error.traceId}`);
  return lines.map((line) => printable(line)).join('\n');
}
