import { authorization, refused } from './token.js';

/** An event of the feed, as the server sends it. */
export interface FeedEvent {
  readonly event_id: string;
  readonly type: 'transition' | 'hold' | 'release' | 'doubt' | 'trust';
  readonly at: string;
  readonly agent_id?: string;
  readonly replica_id?: string;
  readonly from_state?: string | null;
  readonly to_state?: string;
  readonly reason: string;
  readonly evidence: Record<string, unknown>;
}

export type FeedStatus = 'connecting' | 'live' | 'broken';

const RETRY_MS = [500, 1000, 2000, 5000, 10_000];

/**
 * Follows the feed of a namespace until `signal` ends it, and resumes after the last event when it breaks off.
 * `EventSource` cannot send a token, so the stream is read by hand.
 */
export async function follow(
  namespace: string,
  take: (event: FeedEvent) => void,
  status: (status: FeedStatus) => void,
  signal: AbortSignal,
): Promise<void> {
  const place = { last: undefined as string | undefined };
  for (let failures = 0; !signal.aborted;) {
    status(failures === 0 ? 'connecting' : 'broken');
    const began = await once(namespace, place, take, () => status('live'), signal).catch(() => false);
    failures = began ? 0 : failures + 1;
    if (signal.aborted) return;
    status('broken');
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0, signal);
  }
}

/** One connection; whether it ever stood. */
async function once(
  namespace: string,
  place: { last: string | undefined },
  take: (event: FeedEvent) => void,
  live: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const headers = authorization();
  const query = new URLSearchParams({ namespace });
  const response = await fetch(`/api/v1/events?${query.toString()}`, {
    headers: { ...headers, ...(place.last !== undefined && { 'last-event-id': place.last }) },
    signal,
  });
  if (response.status === 401) refused(headers['authorization'] ?? null);
  // An id from before the database was restored: begin anew.
  if (response.status === 400) place.last = undefined;
  if (!response.ok || response.body === null) return false;
  live();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const blocks = (text + value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const { id, event } = parseBlock(block);
        if (id !== undefined) place.last = id;
        if (event !== undefined) take(event);
      }
    }
  } catch {
    // It broke off; whoever called connects again.
  }
  return true;
}

function parseBlock(block: string): { id?: string; event?: FeedEvent } {
  const parsed: { id?: string; event?: FeedEvent } = {};
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) parsed.id = line.slice(4);
    if (line.startsWith('data: ')) parsed.event = JSON.parse(line.slice(6)) as FeedEvent;
  }
  return parsed;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
