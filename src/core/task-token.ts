/**
 * A new key is shown this long before anything is signed with it: whoever checks tokens keeps the key set for a while,
 * and so do replicas. A shorter life of keys shortens it.
 */
const SHOWN_BEFORE_MS = 600_000;
/** Keys are shown this long after the next one took over: the longest time that a delivery may run, and its ACK. */
const SHOWN_AFTER_MS = 8 * 86_400_000;

/** What a task token says (RFC 7519; `namespace`, `agent_id`, `capability` are ours). */
export interface TaskTokenClaims {
  /** The installation that signed it. */
  iss: string;
  /** The task. */
  sub: string;
  /** Names of the dependencies that the agent declared: it is meant for nobody else. */
  aud: string[];
  /** The delivery: task and fence. */
  jti: string;
  /** Seconds since 1970: the delivery is over then at the latest. */
  exp: number;
  namespace: string;
  agent_id: string;
  capability: string;
}

/** A key as of its age in ms. */
export interface KeyAge {
  readonly kid: string;
  readonly ageMs: number;
}

/** How long before its first use a key is shown, in ms, where keys live for `rotationMs`. */
export function shownBeforeMs(rotationMs: number): number {
  return Math.min(SHOWN_BEFORE_MS, rotationMs / 4);
}

/** The age in ms at which nothing that a key signed can still hold. */
export function keyLifeMs(rotationMs: number): number {
  return rotationMs + shownBeforeMs(rotationMs) + SHOWN_AFTER_MS;
}

/**
 * The key to sign with: the youngest that has been shown for long enough. Where none has, as in a new installation,
 * the oldest: every replica comes to the same one.
 */
export function signingKey<K extends KeyAge>(keys: readonly K[], rotationMs: number): K | undefined {
  const youngestFirst = [...keys].sort((a, b) => a.ageMs - b.ageMs || (a.kid < b.kid ? -1 : 1));
  return youngestFirst.find((key) => key.ageMs >= shownBeforeMs(rotationMs)) ?? youngestFirst.at(-1);
}
