/** A map that keeps the `limit` youngest entries. */
export class RecentMap<K, V> {
  private readonly map = new Map<K, V>();

  constructor(private readonly limit: number) {}

  get(key: K): V | undefined {
    return this.map.get(key);
  }

  has(key: K): boolean {
    return this.map.has(key);
  }

  /** Adds or renews an entry; the oldest one leaves when there are more than `limit`. */
  set(key: K, value: V): void {
    this.map.delete(key);
    this.map.set(key, value);
    if (this.map.size <= this.limit) return;
    const oldest = this.map.keys().next();
    if (!oldest.done) this.map.delete(oldest.value);
  }

  delete(key: K): void {
    this.map.delete(key);
  }
}
