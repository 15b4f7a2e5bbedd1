import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { Shutdown } from '../platform/lifecycle/shutdown.js';
import { RegistryEvents } from '../registry/registry.events.js';
import { EventStream } from './event-stream.js';
import {
  BEGINNING,
  FeedStore,
  type FeedFilter,
  type FeedRow,
  idOf,
  type Position,
  positionOf,
} from './feed.store.js';
import type { feedEvent } from './feed.wire.js';

/** Looks at least this often: news is a hint that may be lost. Also keeps proxies from closing an idle stream. */
const RECHECK_MS = 2000;
/** Until what is under way has ended, and between two looks at most this often. */
const SOON_MS = 100;

/**
 * Server-sent events of what happens to agents, from the history: in one order for all readers and all replicas, so
 * that whoever resumes by `Last-Event-ID`, here or at another replica, misses nothing and gets nothing twice.
 */
@Injectable()
export class Feed {
  private readonly log = new Logger(Feed.name);
  private readonly readers = new Map<EventStream, string>();

  constructor(
    private readonly store: FeedStore,
    private readonly shutdown: Shutdown,
    events: RegistryEvents,
  ) {
    // Holds are changes too, though of no state.
    events.listen('changed', ({ namespace }) => this.wake(namespace));
    shutdown.on('intake', 'event feeds', () => {
      for (const reader of this.readers.keys()) reader.wake();
    });
  }

  /**
   * Sends what happens from now on, or after the event `since`, until the reader hangs up or the replica stops.
   * @throws ReachError VALIDATION_FAILED for an id that is none, before anything was sent
   */
  async serve(filter: FeedFilter, since: string | undefined, reply: FastifyReply): Promise<void> {
    const end = await this.store.end(filter.namespace);
    const from = since === undefined ? end : since === '0' ? BEGINNING : positionOf(since, end);
    const stream = EventStream.open(reply);
    this.readers.set(stream, filter.namespace);
    try {
      await this.send(filter, from, stream);
    } catch (err) {
      this.log.warn({ msg: 'an event feed broke off; its reader may resume it', err });
    } finally {
      this.readers.delete(stream);
      stream.end();
    }
  }

  private async send(filter: FeedFilter, from: Position, stream: EventStream): Promise<void> {
    let position = from;
    while (!stream.gone && !this.shutdown.stopping) {
      const look = await this.store.after(filter, position);
      position = look.position;
      // An id without data moves the place to resume from, past what the filter left out.
      await stream.write(`${look.rows.map(eventText).join('')}id: ${idOf(position)}\n\n`);
      if (look.more === 'now') continue;
      await pause(SOON_MS);
      if (look.more === 'later') await stream.next(RECHECK_MS);
    }
  }

  private wake(namespace: string): void {
    for (const [reader, wanted] of this.readers) if (wanted === namespace) reader.wake();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function eventText(row: FeedRow): string {
  return `id: ${idOf(row)}\nevent: ${row.kind}\ndata: ${JSON.stringify(toEvent(row))}\n\n`;
}

function toEvent(row: FeedRow): z.input<typeof feedEvent> {
  const { kind: type, namespace, agent_id: id, from_state, to_state, reason, facts, evidence } = row;
  return {
    event_id: idOf(row),
    type,
    at: row.at.toISOString(),
    ...(namespace === '' ? { replica_id: id } : { namespace, agent_id: id }),
    ...(to_state !== null && { from_state, to_state }),
    reason,
    facts: facts,
    evidence: evidence,
  };
}
