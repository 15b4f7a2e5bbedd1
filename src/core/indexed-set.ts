/** A set whose members have positions below its length, so that some can be drawn without a look at the others. */
export class IndexedSet<T> implements Iterable<T> {
  private readonly members: T[] = [];
  private readonly positions = new Map<T, number>();

  get length(): number {
    return this.members.length;
  }

  at(index: number): T | undefined {
    return this.members[index];
  }

  add(member: T): void {
    if (this.positions.has(member)) return;
    this.positions.set(member, this.members.push(member) - 1);
  }

  /** The last one takes the place that becomes free. */
  delete(member: T): void {
    const at = this.positions.get(member);
    const last = this.members.at(-1);
    if (at === undefined || last === undefined) return;
    this.members[at] = last;
    this.positions.set(last, at);
    this.members.pop();
    this.positions.delete(member);
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.members[Symbol.iterator]();
  }
}
