type Batch = { lanes: Set<string>; sent: Promise<void>; start: () => void };

/**
 * Gathers the lanes ordered while the last batch is on its way, and sends them together, each once: however
 * many tasks arrive for a lane in that time, they cost one order.
 */
export class OrderBatcher {
  private inFlight: Promise<void> | undefined;
  private next: Batch | undefined;

  /** @param send adds the orders of distinct lanes; settles in bounded time */
  constructor(private readonly send: (lanes: string[]) => Promise<void>) {}

  /** Resolves when an order of each lane, sent after this call, was added; rejects as `send` does. */
  add(lanes: readonly string[]): Promise<void> {
    const batch = (this.next ??= this.open());
    for (const lane of lanes) batch.lanes.add(lane);
    if (!this.inFlight) this.flush();
    return batch.sent;
  }

  private open(): Batch {
    const lanes = new Set<string>();
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => (start = resolve));
    const sent = started.then(() => this.send([...lanes]));
    return { lanes, sent, start };
  }

  private flush(): void {
    const batch = this.next;
    this.next = undefined;
    this.inFlight = batch?.sent.then(
      () => this.flush(),
      () => this.flush(),
    );
    batch?.start();
  }
}
