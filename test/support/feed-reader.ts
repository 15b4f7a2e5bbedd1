import type { Api, Json } from './api.js';

/** Reads the feed of events from one dispatcher, and keeps what came and where to resume. */
export class FeedReader {
  readonly events: Json[] = [];
  /** The id that came last, with an event or without. */
  lastId: string | undefined;
  private readonly abort = new AbortController();
  private reading: Promise<void> = Promise.resolve();

  private constructor() {}

  /** Opens the feed; resolves once it has begun. `query` beside the namespace. */
  static async open(api: Api, query: Record<string, string> = {}, since?: string): Promise<FeedReader> {
    const reader = new FeedReader();
    const params = new URLSearchParams({ namespace: api.namespace, ...query });
    const answer = await fetch(`${api.url()}/api/v1/events?${params.toString()}`, {
      headers: since === undefined ? {} : { 'last-event-id': since },
      signal: reader.abort.signal,
    });
    if (answer.status !== 200) throw new Error(`no feed: ${answer.status} ${await answer.text()}`);
    let begun = (): void => undefined;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    reader.reading = reader.read(answer, begun).catch(() => undefined);
    await beginning;
    return reader;
  }

  /** What came, as `agent state` or `agent kind`. */
  get told(): string[] {
    return this.events.map((e) => `${e.agent_id} ${e.type === 'transition' ? e.to_state : e.type}`);
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.reading;
  }

  private async read(answer: Response, begun: () => void): Promise<void> {
    let text = '';
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.take(block);
      begun();
    }
  }

  private take(block: string): void {
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) this.lastId = line.slice(4);
      if (line.startsWith('data: ')) this.events.push(JSON.parse(line.slice(6)));
    }
  }
}
