import type { Credentials } from '../../platform/outbound/credentials.js';
import { ProbeFailure } from './probe-failure.js';

interface Declared {
  target: string;
  credential?: string | undefined;
  options: {
    credential_header?: string | undefined;
    credential_scheme?: 'bearer' | 'basic' | 'none' | undefined;
    credential_query?: string | undefined;
  };
}

/**
 * The header that carries the credential of a target, if it has one. What must not be shown goes to `secrets`.
 * @throws ProbeFailure `misconfigured`
 */
export async function credentialHeaders(
  declared: Declared,
  credentials: Credentials,
  secrets: string[],
): Promise<Record<string, string>> {
  if (declared.credential === undefined || declared.options.credential_query !== undefined) return {};
  const secret = await secretOf(declared, declared.credential, credentials, secrets);
  const header = (declared.options.credential_header ?? 'authorization').toLowerCase();
  const scheme = declared.options.credential_scheme ?? (header === 'authorization' ? 'bearer' : 'none');
  if (scheme === 'basic') {
    const encoded = Buffer.from(secret, 'utf8').toString('base64');
    secrets.push(encoded);
    return { [header]: `Basic ${encoded}` };
  }
  if (!/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(secret))
    throw new ProbeFailure('misconfigured', `${declared.credential} cannot stand in a header`);
  return { [header]: scheme === 'bearer' ? `Bearer ${secret}` : secret };
}

/**
 * The target with its credential as a query parameter, where it is to be shown so. What must not be shown goes to `secrets`.
 * @throws ProbeFailure `misconfigured`
 */
export async function credentialUrl(
  declared: Declared,
  credentials: Credentials,
  secrets: string[],
): Promise<string> {
  const { credential, target, options } = declared;
  if (credential === undefined || options.credential_query === undefined) return target;
  const secret = await secretOf(declared, credential, credentials, secrets);
  const url = new URL(target);
  url.searchParams.set(options.credential_query, secret);
  secrets.push(url.searchParams.toString(), encodeURIComponent(secret));
  return url.href;
}

/** @throws ProbeFailure `misconfigured` */
async function secretOf(
  { target }: Declared,
  credential: string,
  credentials: Credentials,
  secrets: string[],
): Promise<string> {
  const url = new URL(target);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const secret = await credentials.read(credential, `${url.hostname}:${port}`);
  secrets.push(secret);
  return secret;
}
