import { RawAgent, type RawAgentOptions } from './raw-agent.js';
import { RawSession } from './raw-session.js';
import { until } from './until.js';

/** Any JSON, looked into by assertions. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Answer {
  status: number;
  body: Json;
  headers: Headers;
}

export interface ServerEvent {
  id: number;
  event: string;
  data: Json;
}

const TERMINAL = new Set(['succeeded', 'failed', 'canceled', 'expired']);
const WAIT_MS = 20_000;

/** The REST API by hand, in one namespace. Calls go to the dispatchers in turn. */
export class Api {
  private turn = 0;

  constructor(
    private readonly urls: () => readonly string[],
    readonly namespace: string,
  ) {}

  /** The same namespace, always through one dispatcher. */
  at(url: string): Api {
    return new Api(() => [url], this.namespace);
  }

  /** The same namespace through each of the dispatchers. */
  each(): Api[] {
    return this.urls().map((url) => this.at(url));
  }

  /** One of the dispatchers' addresses, each in its turn. */
  url(): string {
    const urls = this.urls();
    return urls[this.turn++ % urls.length] as string;
  }

  /** Sends a call; a body goes as JSON, a text as it is. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fetch(`${this.url()}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    let parsed: Json = text;
    if (/json/.test(answer.headers.get('content-type') ?? '')) parsed = JSON.parse(text);
    return { status: answer.status, body: parsed, headers: answer.headers };
  }

  /** GET under `/api/v1`, in the namespace. */
  get(path: string, query: Record<string, string | number | boolean> = {}): Promise<Answer> {
    const params = new URLSearchParams({ namespace: this.namespace });
    for (const [key, value] of Object.entries(query)) params.set(key, String(value));
    return this.call('GET', `/api/v1/${path}?${params.toString()}`);
  }

  /** POST under `/api/v1`; the namespace is added to the body, or to the query where there is none. */
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Answer> {
    if (body === undefined)
      return this.call('POST', `/api/v1/${path}?namespace=${this.namespace}`, undefined, headers);
    return this.call('POST', `/api/v1/${path}`, { namespace: this.namespace, ...body }, headers);
  }

  /** Submits a task that must be accepted; its id. */
  async submit(task: object, headers?: Record<string, string>): Promise<string> {
    const answer = await this.post('tasks', task, headers);
    if (answer.status !== 202)
      throw new Error(`not accepted: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.task_id as string;
  }

  /** The task as it is now. */
  async task(id: string): Promise<Json> {
    const answer = await this.get(`tasks/${id}`);
    if (answer.status !== 200) throw new Error(`no task ${id}: ${answer.status}`);
    return answer.body;
  }

  /** The task once it has ended; throws when it has not within 20 s. */
  async ended(id: string): Promise<Json> {
    const { body } = await this.get(`tasks/${id}`, { wait_ms: WAIT_MS });
    if (!TERMINAL.has(body.state as string))
      throw new Error(`task ${id} is still ${body.state}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The task once it is in `state`; throws when it ends in another, or does not come there within 20 s. */
  async reached(id: string, state: string): Promise<Json> {
    let task: Json;
    await until(
      `task ${id} is ${state}`,
      async () => {
        task = await this.task(id);
        if (task.state !== state && TERMINAL.has(task.state as string))
          throw new Error(`task ${id} never was ${state}: ${JSON.stringify(task)}`);
        return task.state === state;
      },
      WAIT_MS,
    );
    return task;
  }

  /** The event stream of a task to its end, or the first `atMost` events. */
  async events(id: string, after?: number, atMost = Infinity): Promise<ServerEvent[]> {
    const url = `${this.url()}/api/v1/tasks/${id}/events?namespace=${this.namespace}`;
    const stream = await fetch(url, {
      headers: after === undefined ? {} : { 'last-event-id': String(after) },
      signal: AbortSignal.timeout(WAIT_MS),
    });
    if (stream.status !== 200) throw new Error(`no stream: ${stream.status}`);
    const events: ServerEvent[] = [];
    let text = '';
    for await (const chunk of (stream.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.flatMap(parseEvent));
      if (events.length >= atMost) break;
    }
    return events.slice(0, atMost);
  }

  cancel(id: string): Promise<Answer> {
    return this.post(`tasks/${id}/cancel`);
  }

  /** Why the attempts of a task failed, oldest first. */
  async attributions(taskId: string): Promise<Json[]> {
    const { body } = await this.get('attributions', { task_id: taskId, limit: 500 });
    return (body.items as Json[]).reverse();
  }

  /** The agent as the registry shows it. */
  async agentView(id: string): Promise<Json> {
    return (await this.get(`agents/${encodeURIComponent(id)}`)).body;
  }

  /** Resolves once the agent is in `state`. */
  agentIs(id: string, state: string): Promise<void> {
    return until(`agent ${id} is ${state}`, async () => (await this.agentView(id)).state === state);
  }

  /** The states that the agent has been in, the oldest first. */
  async statesOf(id: string): Promise<string[]> {
    const { history } = await this.agentView(id);
    return (history as Json[]).map((h) => h.to_state as string).reverse();
  }

  /** A registered agent that speaks REST by hand. */
  async agent(id: string, options: RawAgentOptions = {}): Promise<RawAgent> {
    const agent = new RawAgent(this, id, options);
    await agent.register();
    return agent;
  }

  /** A registered agent that speaks over a session by hand. */
  session(id: string, options: RawAgentOptions = {}): Promise<RawSession> {
    return RawSession.register(this, id, options);
  }
}

/** A block of an event stream; a comment is no event. */
function parseEvent(block: string): ServerEvent[] {
  const fields = new Map(
    block
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const data = fields.get('data');
  if (data === undefined) return [];
  return [{ id: Number(fields.get('id')), event: fields.get('event') ?? '', data: JSON.parse(data) }];
}
