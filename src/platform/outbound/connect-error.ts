import type { ProbeFault } from '../../core/probe-result.js';

/** The ways in which no connection comes about. */
export type ConnectFault = Extract<
  ProbeFault,
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'connect_timeout'
  | 'tls'
  | 'closed'
  | 'address_denied'
  | 'misconfigured'
>;

/** No connection came about, so nothing was sent. The message names the target and the reason. */
export class ConnectError extends Error {
  constructor(
    readonly fault: ConnectFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ConnectError';
  }
}

const FAULTS: Readonly<Record<string, ConnectFault>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'connect_timeout',
  ECONNRESET: 'closed',
  ECONNABORTED: 'closed',
  EPIPE: 'closed',
  // Of our own process: it says nothing about the target.
  EMFILE: 'misconfigured',
  ENFILE: 'misconfigured',
  ENOBUFS: 'misconfigured',
  ENOMEM: 'misconfigured',
  EAFNOSUPPORT: 'misconfigured',
};

/** OpenSSL's and Node's own codes for what is wrong with a certificate or a handshake. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|CRL_|EPROTO)/;

/** The fault behind the code of a system or TLS error; undefined for a code of another kind. */
export function connectFaultOf(error: unknown): ConnectFault | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'string') return undefined;
  if (TLS_CODE.test(code)) return 'tls';
  return Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined;
}
