import { fullJitterMs, pause } from './backoff.js';
import { ReachApiError, ReachConnectionError } from './errors.js';
import { type Http } from './http.js';
import { readEvents } from './sse.js';
import { type StoryEntry, type TaskDetail } from './wire.js';

/** How often in a row a stream may break without one new entry. */
const MAX_IDLE_BREAKS = 20;
const BACKOFF_BASE_MS = 200;
const BACKOFF_CAP_MS = 5000;
/** Headers come at once; the stream itself may last for days. */
const STREAM_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Follows the story of a task by server-sent events to its end. A broken stream is taken up again after the
 * last entry that was seen (`Last-Event-ID`).
 */
export async function* followEvents(
  http: Http,
  taskId: string,
  options: { namespace: string; after?: number; signal?: AbortSignal },
): AsyncGenerator<StoryEntry> {
  let last = options.after ?? 0;
  for (let breaks = 0; ; breaks++) {
    try {
      for await (const entry of oneStream(http, taskId, last, options)) {
        if (entry.position <= last) continue;
        last = entry.position;
        breaks = 0;
        yield entry;
        if (entry.kind === 'ended') return;
      }
      if (await hasEnded(http, taskId, options.namespace)) return;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof ReachApiError && !error.retryable) throw error;
      if (breaks >= MAX_IDLE_BREAKS) throw error;
    }
    await pause(fullJitterMs(breaks, BACKOFF_BASE_MS, BACKOFF_CAP_MS, Math.random()), options.signal);
    options.signal?.throwIfAborted();
  }
}

async function* oneStream(
  http: Http,
  taskId: string,
  after: number,
  { namespace, signal }: { namespace: string; signal?: AbortSignal },
): AsyncGenerator<StoryEntry> {
  const response = await http.stream({
    method: 'GET',
    path: `tasks/${encodeURIComponent(taskId)}/events`,
    query: { namespace },
    headers: { accept: 'text/event-stream', ...(after > 0 ? { 'last-event-id': String(after) } : {}) },
    timeoutMs: STREAM_TIMEOUT_MS,
    signal,
  });
  if (!response.body) return;
  try {
    for await (const event of readEvents(response.body)) yield JSON.parse(event.data) as StoryEntry;
  } catch (error) {
    if (signal?.aborted || error instanceof ReachApiError) throw error;
    throw new ReachConnectionError(response.url, 'the stream broke', error);
  }
}

async function hasEnded(http: Http, taskId: string, namespace: string): Promise<boolean> {
  const path = `tasks/${encodeURIComponent(taskId)}`;
  const task = await http.json<TaskDetail>({ method: 'GET', path, query: { namespace } });
  return task.finished_at !== undefined;
}
