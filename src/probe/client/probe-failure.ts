import { errors } from 'undici';
import { storableText, truncate } from '../../core/text.js';
import type { ProbeFault } from '../../core/probe-result.js';
import { ConnectError, connectFaultOf } from '../../platform/outbound/connect-error.js';

/** A probe failed in a way that is known. The message is for people and holds no secret. */
export class ProbeFailure extends Error {
  constructor(
    readonly fault: ProbeFault,
    message: string,
  ) {
    super(message);
    this.name = 'ProbeFailure';
  }
}

/** Longest detail that is kept. */
const DETAIL_LENGTH = 300;

/** What a target said, made fit to be stored and shown: one line, bounded, without control characters. */
export function printable(text: string, length = DETAIL_LENGTH): string {
  return truncate(storableText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim()), length);
}

/** The failure behind whatever a client threw. */
export function failureOf(error: unknown): ProbeFailure {
  if (error instanceof ProbeFailure) return error;
  const known = error instanceof Error ? knownFault(error) : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return new ProbeFailure(known ?? 'closed', printable(message) || 'the connection failed');
}

function knownFault(error: Error): ProbeFault | undefined {
  if (error instanceof ConnectError) return error.fault;
  if (error instanceof errors.HTTPParserError) return 'wrong_answer';
  if (error instanceof errors.HeadersOverflowError) return 'too_large';
  if (error instanceof errors.SocketError) return 'closed';
  // What a driver wraps says more than the wrapping.
  const inner: unknown = error.cause;
  return connectFaultOf(error) ?? (inner instanceof Error ? knownFault(inner) : undefined);
}
