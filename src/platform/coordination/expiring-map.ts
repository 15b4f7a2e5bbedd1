type Entry<V> = { value: V; expiresAtMs: number };

/**
 * A Map whose entries expire, without a timer: an expired entry is invisible at once, and every write looks
 * at two entries in turn and drops those that have expired. The sweep thus goes round faster than the map
 * can grow, and memory stays within about twice what is alive.
 */
export class ExpiringMap<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private sweep = this.entries.entries();

  /** @param clock monotonic milliseconds */
  constructor(private readonly clock: () => number) {}

  /** Entries held in memory, expired ones that no sweep has met yet included. */
  get heldCount(): number {
    return this.entries.size;
  }

  /** The live value of `key`, or undefined. */
  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > this.clock()) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  /** Sets `key` for `ttlMs` from now. */
  set(key: string, value: V, ttlMs: number): void {
    this.dropExpired(2);
    this.entries.set(key, { value, expiresAtMs: this.clock() + ttlMs });
  }

  /** @returns whether a live entry was removed. */
  delete(key: string): boolean {
    const wasLive = this.get(key) !== undefined;
    this.entries.delete(key);
    return wasLive;
  }

  /** Removes everything. */
  clear(): void {
    this.entries.clear();
  }

  private dropExpired(count: number): void {
    const nowMs = this.clock();
    for (let i = 0; i < count; i++) {
      const next = this.sweep.next();
      if (next.done === true) {
        this.sweep = this.entries.entries();
        return;
      }
      const [key, entry] = next.value;
      if (entry.expiresAtMs <= nowMs) this.entries.delete(key);
    }
  }
}
