import { setTimeout as sleep } from 'node:timers/promises';
import { retryDelayMs } from '../../core/backoff.js';
import type { SourceHttp } from './source-http.js';

/*
 * Consul's blocking queries, as https://developer.hashicorp.com/consul/api-docs/features/blocking has them: a query
 * with the index of the last answer hangs until something changed or `wait` is over, plus up to a sixteenth of it.
 */

const WAIT_S = 60;
const TIMEOUT_MS = WAIT_S * 1000 * (1 + 1 / 16) + 10_000;
/** Answers that may come in quick succession before the pace is limited. */
const BURST = 2;
const BACKOFF_CAP_MS = 30_000;

/**
 * The index to ask with next. One that went backwards (a restored snapshot, an upgraded server) would miss changes,
 * so it starts anew; one below 1 would not block at all.
 */
export function nextIndex(asked: number, header: string | string[] | undefined): number {
  const index = Number(header);
  if (!Number.isSafeInteger(index) || index < 1) return 1;
  return index < asked ? 0 : index;
}

/** Refills at one token each `everyMs`, and holds at most two: in the usual case nobody waits for it. */
class Pace {
  private tokens = BURST;
  private refilledAt = performance.now();

  constructor(private readonly everyMs: number) {}

  /** In how many ms the next may go; takes its token. */
  takeMs(): number {
    const now = performance.now();
    this.tokens = Math.min(BURST, this.tokens + (now - this.refilledAt) / this.everyMs) - 1;
    this.refilledAt = now;
    return this.tokens >= 0 ? 0 : -this.tokens * this.everyMs;
  }
}

export interface BlockingQuery {
  /** With a query or without. */
  path: string;
  headers: () => Promise<Record<string, string>>;
  /** Takes a body; throws when it is not what it should be. */
  accept: (body: unknown) => void;
  failed: (error: Error) => void;
  /** Where answers come in a rush, one of them each so many ms is taken. */
  paceMs: number;
}

/** Follows one blocking query until `signal` aborts. Never rejects. */
export async function follow(http: SourceHttp, query: BlockingQuery, signal: AbortSignal): Promise<void> {
  const pace = new Pace(query.paceMs);
  const backoff = { baseMs: Math.min(1000, query.paceMs), jitter: 0.5, capMs: BACKOFF_CAP_MS };
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  let index = 0;
  let failures = 0;
  while (!signal.aborted) {
    const heldMs = pace.takeMs();
    if (heldMs > 0) await pause(heldMs);
    try {
      const path = `${query.path}${query.path.includes('?') ? '&' : '?'}index=${index}&wait=${WAIT_S}s`;
      const headers = await query.headers();
      const answer = await http.json({ path, headers, timeoutMs: TIMEOUT_MS, signal });
      query.accept(answer.body);
      index = nextIndex(index, answer.headers['x-consul-index']);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      query.failed(error as Error);
      // What changed meanwhile is read at once when it is back.
      index = 0;
      failures += 1;
      await pause(retryDelayMs(failures, backoff, Math.random));
    }
  }
}
