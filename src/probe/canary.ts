import type { Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { request } from 'undici';
import { Sql } from '../platform/postgres/sql.js';

const WITHIN_MS = 2000;

/** Two round trips that must work whenever we do: to our own HTTP port, and to Postgres. */
@Injectable()
export class Canary {
  constructor(
    private readonly http: HttpAdapterHost,
    private readonly sql: Sql,
  ) {}

  /** @returns what is wrong with us, or undefined; within 2 s */
  async check(): Promise<string | undefined> {
    const [own, ledger] = await Promise.all([this.checkPort(), within(this.sql.run('canary', 'SELECT 1'))]);
    if (own !== undefined) return `our own port does not answer: ${own}`;
    return ledger === undefined ? undefined : `PostgreSQL does not answer: ${ledger}`;
  }

  private async checkPort(): Promise<string | undefined> {
    const server = this.http.httpAdapter?.getHttpServer() as Server | undefined;
    const address = server?.address();
    // An application without a listener (a tool, a test) has no port to fail.
    if (address === null || address === undefined || typeof address === 'string') return undefined;
    const host =
      address.address === '::' ? '[::1]' : address.address === '0.0.0.0' ? '127.0.0.1' : address.address;
    const url = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${address.port}/livez`;
    // Over a new connection each time: an old one may go on where nobody can make a new one.
    return within(
      request(url, { reset: true, signal: AbortSignal.timeout(WITHIN_MS) }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
        },
      ),
    );
  }
}

/** Why the promise failed, or undefined when it did not. */
async function within(promise: Promise<unknown>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${WITHIN_MS} ms`)), WITHIN_MS);
  });
  try {
    await Promise.race([promise, late]);
    return undefined;
  } catch (error) {
    return error instanceof Error && error.message ? error.message : 'failed';
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}
