interface Entry<T> {
  key: string;
  item: T;
  dueMs: number;
  live: boolean;
}

/** Items by the moment they are due; each key at most once. A binary heap: every step is logarithmic. */
export class DueQueue<T> {
  private heap: Entry<T>[] = [];
  private readonly byKey = new Map<string, Entry<T>>();

  get size(): number {
    return this.byKey.size;
  }

  /** Puts the item in, or moves it. */
  set(key: string, item: T, dueMs: number): void {
    this.delete(key);
    const entry = { key, item, dueMs, live: true };
    this.byKey.set(key, entry);
    this.push(entry);
  }

  /** Moves an item that is there to an earlier time; one that is due by then stays. @returns whether it is there */
  hasten(key: string, dueMs: number): boolean {
    const entry = this.byKey.get(key);
    if (entry !== undefined && entry.dueMs > dueMs) this.set(key, entry.item, dueMs);
    return entry !== undefined;
  }

  delete(key: string): boolean {
    const entry = this.byKey.get(key);
    if (entry === undefined) return false;
    entry.live = false;
    this.byKey.delete(key);
    // What was deleted stays in the heap until it comes up; it must not outgrow what lives.
    if (this.heap.length > 64 && this.heap.length > 2 * this.byKey.size) this.rebuild();
    return true;
  }

  /** When the next item is due; undefined when there is none. */
  nextDueMs(): number | undefined {
    return this.top()?.dueMs;
  }

  /** Takes out the item that is due the longest, if one is due. */
  take(nowMs: number): { item: T; dueMs: number } | undefined {
    const entry = this.top();
    if (entry === undefined || entry.dueMs > nowMs) return undefined;
    this.pop();
    this.byKey.delete(entry.key);
    return { item: entry.item, dueMs: entry.dueMs };
  }

  private top(): Entry<T> | undefined {
    for (;;) {
      const entry = this.heap[0];
      if (entry === undefined || entry.live) return entry;
      this.pop();
    }
  }

  private rebuild(): void {
    this.heap = [];
    for (const entry of this.byKey.values()) this.push(entry);
  }

  private push(entry: Entry<T>): void {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || parent.dueMs <= entry.dueMs) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = entry;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const toRight = right !== undefined && right.dueMs < left.dueMs;
      const child = toRight ? right : left;
      if (child.dueMs >= last.dueMs) break;
      heap[at] = child;
      at = 2 * at + (toRight ? 2 : 1);
    }
    heap[at] = last;
  }
}
