/** So many tokens at most, refilled at a steady rate; full at first. */
export interface BucketRule {
  capacity: number;
  perSecond: number;
  /** How many may be owed; 0 where nothing is said: what is not there is not given. */
  overdraft?: number;
}

/** What a bucket holds, and since when. Below 0: so many are owed. */
export interface BucketLevel {
  tokens: number;
  atMs: number;
}

/** What came of asking for tokens: those that were there, and how many are owed by all who asked. */
export interface BucketGrant {
  granted: number;
  owed: number;
}

/**
 * Takes up to `wanted` tokens; those that are missing become a debt, as far as the overdraft goes.
 * @param level undefined: full  @param nowMs on a clock that all calls for one bucket share
 */
export function takeTokens(
  level: BucketLevel | undefined,
  wanted: number,
  { capacity, perSecond, overdraft = 0 }: BucketRule,
  nowMs: number,
): BucketGrant & { level: BucketLevel } {
  const since = Math.max(0, nowMs - (level?.atMs ?? nowMs));
  const tokens = Math.min(capacity, (level?.tokens ?? capacity) + (since * perSecond) / 1000);
  const granted = Math.max(0, Math.min(wanted, Math.floor(tokens)));
  // A debt that is as deep as it may be stays so: the missing ones are not given, and nobody waits longer for them.
  const debt = Math.max(0, Math.min(wanted - granted, Math.floor(overdraft + tokens - granted)));
  const left = tokens - granted - debt;
  const owed = Math.max(0, Math.ceil(-left));
  return { granted, owed, level: { tokens: left, atMs: Math.max(nowMs, level?.atMs ?? nowMs) } };
}
