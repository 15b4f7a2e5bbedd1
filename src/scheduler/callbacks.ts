import { createHmac } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Agent, request } from 'undici';
import { storableText, truncate } from '../core/text.js';
import type { TaskState } from '../core/task-state.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { AddressGuard } from '../platform/outbound/address-guard.js';
import { guardedConnector } from '../platform/outbound/guarded-connect.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';

const DUE = loadSql(import.meta.url, 'sql/callbacks_due.sql');
const DONE = loadSql(import.meta.url, 'sql/callback_done.sql');
const FAILED = loadSql(import.meta.url, 'sql/callback_failed.sql');

/** Under way at a time, in all and to one host. */
const MOST_UNDER_WAY = 200;
const MOST_PER_HOST = 32;
/** 5, 10, 20 ... s between tries, at most an hour: about four hours in all. */
const BASE_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 3_600_000;
const MOST_ATTEMPTS = 12;
const TIMEOUT_MS = 10_000;
/** A callback that was taken is nobody else's for longer than a try can last. */
const TAKEN_MS = 2 * TIMEOUT_MS;

interface DueCallback {
  task_id: string;
  url: string;
  host: string;
  attempt: number;
  namespace: string;
  capability: string;
  state: TaskState;
  task_attempt: number;
  agent_id: string | null;
  result: unknown;
  error: unknown;
  meta: unknown;
  fallback: unknown;
  created_at: Date;
  finished_at: Date;
}

/**
 * Tells callers that their task ended: a CloudEvent by webhook (Standard Webhooks headers, signed where a
 * secret is set), from an outbox that the ending of the task filled. At least once; `webhook-id` stays the same.
 */
@Injectable()
export class Callbacks implements OnApplicationBootstrap {
  private readonly log = new Logger(Callbacks.name);
  private readonly ticker: Ticker;
  private readonly secrets: readonly Buffer[];
  private readonly dispatcher: Agent;
  private readonly underWay = new Map<Promise<void>, string>();

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly sql: Sql,
    guard: AddressGuard,
    shutdown: Shutdown,
  ) {
    this.secrets = config.webhookSecrets.map(secretBytes);
    this.dispatcher = new Agent({
      connect: guardedConnector(guard, config.connectTimeoutMs),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      maxResponseSize: 64 * 1024,
    });
    this.ticker = new Ticker('callbacks', config.sweepIntervalMs, () => this.sendDue());
    shutdown.on('drain', 'callbacks', async () => {
      await this.ticker.stop();
      await Promise.all(this.underWay.keys());
    });
    shutdown.on('clients', 'callback connections', () => this.dispatcher.close());
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  private async sendDue(): Promise<void> {
    const room = MOST_UNDER_WAY - this.underWay.size;
    if (room <= 0) return;
    const params = [room, MOST_PER_HOST, this.busyHosts(), TAKEN_MS];
    const { rows } = await this.sql.run<DueCallback>('callbacks_due', DUE, params);
    for (const row of rows) this.start(row);
  }

  /** Hosts that have as many under way as they get. */
  private busyHosts(): string[] {
    const counts = new Map<string, number>();
    for (const host of this.underWay.values()) counts.set(host, (counts.get(host) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= MOST_PER_HOST).map(([host]) => host);
  }

  private start(callback: DueCallback): void {
    const sending = this.send(callback)
      .catch((err: unknown) =>
        this.log.warn({ msg: 'what became of a callback was not noted; it comes again', err }),
      )
      .finally(() => {
        this.underWay.delete(sending);
        this.ticker.soon();
      });
    this.underWay.set(sending, callback.host);
  }

  private async send(callback: DueCallback): Promise<void> {
    const problem = await this.post(callback);
    if (problem === undefined) {
      await this.sql.run('callback_done', DONE, [callback.task_id]);
      return;
    }
    this.log.warn({
      msg: `callback of task ${callback.task_id} failed: ${problem}`,
      task_id: callback.task_id,
      attempt: callback.attempt,
      of: MOST_ATTEMPTS,
    });
    const why = truncate(storableText(problem), 500);
    const pauses = [BASE_PAUSE_MS, LONGEST_PAUSE_MS];
    await this.sql.run('callback_failed', FAILED, [callback.task_id, why, MOST_ATTEMPTS, ...pauses]);
  }

  private async post(callback: DueCallback): Promise<string | undefined> {
    const body = JSON.stringify(cloudEvent(callback));
    try {
      const answer = await request(callback.url, {
        method: 'POST',
        dispatcher: this.dispatcher,
        headers: {
          'content-type': 'application/cloudevents+json',
          ...this.signature(callback.task_id, body),
        },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await answer.body.dump();
      return problemOf(answer.statusCode);
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** https://www.standardwebhooks.com: HMAC-SHA256 over id.timestamp.body */
  private signature(id: string, body: string): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
    if (this.secrets.length === 0) return headers;
    const signatures = this.secrets.map(
      (secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    );
    return { ...headers, 'webhook-signature': signatures.join(' ') };
  }
}

/** Whoever is told by a redirect where to go would go wherever a stranger likes: to be changed at the task. */
function problemOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

/** Standard Webhooks secrets are `whsec_` and base64; any other text is taken as it is. */
function secretBytes(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
}

function cloudEvent(c: DueCallback): Record<string, unknown> {
  return {
    specversion: '1.0',
    id: c.task_id,
    source: `/namespaces/${encodeURIComponent(c.namespace)}/tasks`,
    type: `dev.agentreach.task.${c.state}.v1`,
    subject: c.task_id,
    time: c.finished_at.toISOString(),
    datacontenttype: 'application/json',
    data: {
      task_id: c.task_id,
      namespace: c.namespace,
      capability: c.capability,
      state: c.state,
      attempt: c.task_attempt,
      ...(c.agent_id !== null && { agent_id: c.agent_id }),
      created_at: c.created_at.toISOString(),
      finished_at: c.finished_at.toISOString(),
      ...(c.state === 'succeeded' && { result: c.result }),
      ...(c.meta !== null && { meta: c.meta }),
      ...(c.error !== null && { error: c.error }),
      ...(c.fallback !== null && { fallback_used: c.fallback }),
    },
  };
}
