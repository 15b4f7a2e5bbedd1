import { fullJitterMs, pause } from './backoff.js';
import { ReachApiError, ReachConnectionError, type Problem } from './errors.js';

export interface HttpOptions {
  /** One base URL, or several that lead to the same centre (the next one is used when one does not answer). */
  url: string | readonly string[];
  token?: string | undefined;
  /** For each try, headers and body; default 30 000. */
  timeoutMs?: number | undefined;
  /** How often a call that may be repeated is repeated; default 4. */
  retries?: number | undefined;
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1/`, path segments already encoded. */
  path: string;
  query?: object | undefined;
  body?: unknown;
  /** The body as JSON already; wins over `body`. */
  json?: string;
  headers?: Record<string, string> | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Whether repeating is harmless; default: for GET. */
  repeatable?: boolean | undefined;
}

const BACKOFF_BASE_MS = 100;
const BACKOFF_CAP_MS = 2000;
/** A centre that asks for more than this is left to the caller. */
const MAX_RETRY_AFTER_MS = 30_000;

/** The centre's REST interface: JSON in and out, problems as `ReachApiError`, safe calls repeated. */
export class Http {
  readonly urls: readonly string[];
  private current = 0;
  private readonly timeoutMs: number;
  private readonly retries: number;
  private readonly authorization: Record<string, string>;

  constructor(options: HttpOptions) {
    this.urls = baseUrls(options.url);
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.retries = options.retries ?? 4;
    this.authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  }

  /** @throws ReachApiError, ReachConnectionError; the signal's reason when `call.signal` fires */
  async json<T>(call: Call): Promise<T> {
    const repeatable = call.repeatable ?? call.method === 'GET';
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await this.once(call);
        return (await readJson(response)) as T;
      } catch (error) {
        if (call.signal?.aborted) throw error;
        const failure = this.asFailure(error);
        const waitMs = repeatable && attempt < this.retries ? retryWaitMs(failure, attempt) : undefined;
        if (waitMs === undefined) throw failure;
        await pause(waitMs, call.signal);
        call.signal?.throwIfAborted();
      }
    }
  }

  /** One try of a call whose answer is read as a stream. */
  async stream(call: Call): Promise<Response> {
    try {
      return await this.once(call);
    } catch (error) {
      if (call.signal?.aborted) throw error;
      throw this.asFailure(error);
    }
  }

  private async once(call: Call): Promise<Response> {
    const timeout = AbortSignal.timeout(call.timeoutMs ?? this.timeoutMs);
    const body = call.json ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const response = await fetch(`${this.urls[this.current]}/api/v1/${call.path}${queryString(call.query)}`, {
      method: call.method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.authorization,
        ...call.headers,
      },
      signal: call.signal ? AbortSignal.any([timeout, call.signal]) : timeout,
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw await readProblem(response);
    return response;
  }

  private asFailure(error: unknown): ReachApiError | ReachConnectionError {
    if (error instanceof ReachApiError) {
      // 503 may be said by one replica only, for example while it shuts down.
      if (error.status === 503) this.failOver();
      return error;
    }
    const url = this.urls[this.current] ?? '';
    this.failOver();
    return new ReachConnectionError(url, reasonOf(error), error);
  }

  private failOver(): void {
    this.current = (this.current + 1) % this.urls.length;
  }
}

/** Trims and checks base URLs. @throws TypeError for one that is not http or https */
export function baseUrls(url: string | readonly string[]): string[] {
  const urls = (typeof url === 'string' ? url.split(',') : [...url]).map((u) => u.trim().replace(/\/+$/, ''));
  for (const u of urls) {
    if (!/^https?:\/\/[^/]/.test(u))
      throw new TypeError(`"${u}" is not a URL that begins with http:// or https://`);
  }
  if (urls.length === 0) throw new TypeError('at least one URL of the centre is needed');
  return urls;
}

/** The defined fields of `query` as a query string, with its "?". */
function queryString(query: object | undefined): string {
  if (!query) return '';
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query) as [string, string | number | boolean | undefined][]) {
    if (value !== undefined && value !== '') search.set(key, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

async function readJson(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new ReachApiError({
      code: 'REACH_INTERNAL',
      detail: `the answer of ${response.url} is not JSON; is this a centre of Agent-Reach?`,
      status: response.status,
    });
  }
}

async function readProblem(response: Response): Promise<ReachApiError> {
  const text = await response.text();
  let problem: Partial<Problem> = {};
  try {
    problem = JSON.parse(text) as Partial<Problem>;
  } catch {
    // Something between us and the centre answered; the status has to say it all.
  }
  const retryable = response.status === 429 || response.status >= 502;
  return new ReachApiError(
    {
      retryable,
      ...problem,
      status: response.status,
      code: problem.code ?? `HTTP_${response.status}`,
      detail: problem.detail ?? `${response.url} answered ${response.status}`,
    },
    retryAfterMs(response.headers.get('retry-after')),
  );
}

/** `Retry-After` in seconds or as a date, in milliseconds. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** How long to wait before a repeatable call is tried again; undefined: do not. */
function retryWaitMs(failure: ReachApiError | ReachConnectionError, attempt: number): number | undefined {
  const backoff = fullJitterMs(attempt, BACKOFF_BASE_MS, BACKOFF_CAP_MS, Math.random());
  if (failure instanceof ReachConnectionError) return backoff;
  const temporary =
    failure.status === 429 || failure.status === 502 || failure.status === 503 || failure.status === 504;
  if (!temporary || !failure.retryable) return undefined;
  const asked = failure.retryAfterMs ?? 0;
  return asked > MAX_RETRY_AFTER_MS ? undefined : asked + backoff;
}

/** undici wraps what happened ("fetch failed") around its cause. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as {
    name?: string;
    message?: string;
    cause?: { code?: string; message?: string };
  };
  if (name === 'TimeoutError') return 'timed out';
  return cause?.code ?? cause?.message ?? message ?? String(error);
}
