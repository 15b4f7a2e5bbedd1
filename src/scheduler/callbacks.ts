import { createHmac } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Agent, request } from 'undici';
import { storableText, truncate } from '../core/text.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { Ticker } from '../platform/lifecycle/ticker.js';
import { AddressGuard } from '../platform/outbound/address-guard.js';
import { guardedConnector } from '../platform/outbound/guarded-connect.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';
import { cloudEvent, type DueCallback, eventId } from './callback-event.js';

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

/**
 * Tells callers that their task ended, and whom a policy names that one was degraded: a CloudEvent by webhook (Standard
 * Webhooks headers, signed where a secret is set), from an outbox that was filled by the statement that changed the task.
 * At least once; `webhook-id` stays the same.
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
      await this.sql.run('callback_done', DONE, [callback.task_id, callback.kind]);
      return;
    }
    const most = callback.max_attempts ?? MOST_ATTEMPTS;
    this.log.warn({
      msg: `callback of task ${callback.task_id} (${callback.kind}) failed${callback.attempt >= most ? ' and is given up' : ''}: ${problem}`,
      task_id: callback.task_id,
      attempt: callback.attempt,
      of: most,
    });
    const why = truncate(storableText(problem), 500);
    const params = [callback.task_id, why, most, BASE_PAUSE_MS, LONGEST_PAUSE_MS, callback.kind];
    await this.sql.run('callback_failed', FAILED, params);
  }

  private async post(callback: DueCallback): Promise<string | undefined> {
    const body = JSON.stringify(cloudEvent(callback));
    try {
      const answer = await request(callback.url, {
        method: 'POST',
        dispatcher: this.dispatcher,
        headers: {
          'content-type': 'application/cloudevents+json',
          ...this.signature(eventId(callback), body),
        },
        body,
        signal: AbortSignal.timeout(callback.timeout_ms ?? TIMEOUT_MS),
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
