const REFUSALS: readonly [pattern: RegExp, what: string][] = [
  [/WRONGPASS[^\n]*|ERR invalid password/i, 'user or password are wrong'],
  [/NOAUTH[^\n]*/, 'it wants a password, and there is none'],
  [/ERR (Client sent AUTH|AUTH <password> called)[^\n]*/, 'a password was sent, and none is set there'],
  [
    /ERR (DB index is out of range|invalid DB index|SELECT is not allowed)[^\n]*/,
    'there is no such database',
  ],
  [/NOPERM[^\n]*/, 'its user lacks permissions'],
];

/**
 * Why a Redis that answers can never be used as REDIS_URL says: credentials, database, permissions. Undefined for
 * everything that may pass: a Redis that is away, starts or fails over.
 */
export function refusalOf(error: Error): string | undefined {
  // A cluster keeps what its nodes said; sentinels are quoted in the message.
  const { lastNodeError } = error as { lastNodeError?: Error };
  const text = `${error.message}\n${lastNodeError?.message ?? ''}`;
  for (const [pattern, what] of REFUSALS) {
    const said = pattern.exec(text)?.[0];
    if (said !== undefined) return `${what} (${said.trim()})`;
  }
  return undefined;
}
