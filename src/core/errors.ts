/**
 * The one catalogue of error codes. REST, the session, attributions and the SDKs all render from it.
 * On the wire each code is prefixed `REACH_` (see `wireCode`).
 */
interface ErrorKind {
  /** HTTP status that REST answers with. */
  readonly status: number;
  readonly title: string;
  /** Whether the same call, unchanged, may succeed later. */
  readonly retryable: boolean;
}

const kind = (status: number, title: string, retryable: boolean): ErrorKind => ({ status, title, retryable });

export const ERROR_CATALOGUE = {
  NO_CAPABLE_AGENT: kind(503, 'No registered agent offers what the task needs', true),
  NO_REACHABLE_AGENT: kind(503, 'Capable agents exist, but none is reachable now', true),
  QUEUE_FULL: kind(429, 'The queue is full', true),
  ROUTE_TIMEOUT: kind(504, 'No agent could be chosen in time', true),
  ACK_TIMEOUT: kind(504, 'The agent did not acknowledge the delivery in time', true),
  EXECUTION_TIMEOUT: kind(504, 'The agent did not finish in time', false),
  TASK_EXPIRED: kind(410, 'The task expired before it could start', false),
  AGENT_LOST: kind(502, 'The agent was lost while it held the task', false),
  AGENT_ERROR: kind(502, 'The agent reported an error', false),
  AGENT_REFUSED: kind(502, 'The agent declined the task', true),
  DEPENDENCY_DOWN: kind(502, 'A dependency of the agent is down', true),
  CONNECTION_FAILED: kind(502, 'The agent could not be connected to', true),
  CONTRACT_MISMATCH: kind(422, 'Request or answer does not match the declared contract', false),
  CALL_CYCLE: kind(409, 'The call chain returns to the same agent too often', false),
  CANCELED: kind(409, 'The task was canceled', false),
  STREAM_INCOMPLETE: kind(502, 'The stream ended without its final part', false),
  LEASE_EXPIRED: kind(409, 'The lease has ended', false),
  LEASE_SUPERSEDED: kind(409, 'A newer registration of this agent holds the lease', false),
  DELIVERY_SUPERSEDED: kind(409, 'The delivery is no longer the current one of its task', false),
  IDEMPOTENCY_CONFLICT: kind(422, 'The idempotency key was used with another body', false),
  STATE_CONFLICT: kind(409, 'The state does not allow this call', false),
  UNAUTHENTICATED: kind(401, 'Credentials are missing or wrong', false),
  FORBIDDEN: kind(403, 'Not permitted', false),
  NOT_FOUND: kind(404, 'Not found', false),
  METHOD_NOT_ALLOWED: kind(405, 'Method not allowed', false),
  UNSUPPORTED_MEDIA_TYPE: kind(415, 'Unsupported media type', false),
  VALIDATION_FAILED: kind(400, 'The request is not valid', false),
  PAYLOAD_TOO_LARGE: kind(413, 'The body is too large', false),
  RATE_LIMITED: kind(429, 'Too many requests', true),
  UNAVAILABLE: kind(503, 'Temporarily unavailable', true),
  INTERNAL: kind(500, 'Internal error', true),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
export const ERROR_CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

const WIRE_PREFIX = 'REACH_';

/** The code as it stands on the wire, for example `REACH_ACK_TIMEOUT`. */
export function wireCode(code: string): string {
  return code.startsWith(WIRE_PREFIX) ? code : WIRE_PREFIX + code;
}

/** The catalogue code behind a wire code (with or without the prefix), or undefined for a foreign one. */
export function parseCode(code: string): ErrorCode | undefined {
  const bare = code.startsWith(WIRE_PREFIX) ? code.slice(WIRE_PREFIX.length) : code;
  return Object.hasOwn(ERROR_CATALOGUE, bare) ? (bare as ErrorCode) : undefined;
}

/** One bad place of a request: an RFC 6901 JSON pointer and what is wrong there. */
export interface FieldError {
  pointer: string;
  detail: string;
}

export interface ReachErrorExtra {
  retryable?: boolean;
  task_id?: string;
  attempt?: number;
  agent_id?: string;
  errors?: FieldError[];
  /** Milliseconds after which a retry makes sense; also rendered as `Retry-After`. */
  retry_after_ms?: number;
  /** Sent with the answer. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The only error class that crosses a layer on purpose; everything else is a bug and renders as INTERNAL. */
export class ReachError extends Error {
  readonly code: ErrorCode;
  readonly extra: ReachErrorExtra;

  /** @param detail one sentence: what happened, to what, why, and what to do next. */
  constructor(code: ErrorCode, detail: string, extra: ReachErrorExtra = {}) {
    super(detail, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = 'ReachError';
    this.code = code;
    this.extra = extra;
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }

  get retryable(): boolean {
    return this.extra.retryable ?? ERROR_CATALOGUE[this.code].retryable;
  }
}
