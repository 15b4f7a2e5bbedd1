import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '../platform/config/config.js';
import { loadSql } from '../platform/postgres/sql-file.js';
import { Sql } from '../platform/postgres/sql.js';

const NOTE = loadSql(import.meta.url, 'sql/note.sql');

/** What cannot be written is kept up to this many; PostgreSQL being away is itself a reason for doubt. */
const MOST_KEPT = 100;

interface Note {
  kind: 'doubt' | 'trust';
  reason: string;
  evidence: Record<string, unknown>;
  at: Date;
}

/** Writes the prober's doubts in itself into the feed of events, later where it cannot be done now. */
@Injectable()
export class Journal {
  private readonly log = new Logger(Journal.name);
  private readonly notes: Note[] = [];
  private writing: Promise<void> | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly sql: Sql,
  ) {}

  /** Notes what happened now. Returns at once. */
  note(kind: Note['kind'], reason: string, evidence: Record<string, unknown> = {}): void {
    this.notes.push({ kind, reason, evidence, at: new Date() });
    if (this.notes.length > MOST_KEPT) this.notes.shift();
    this.flush();
  }

  /** Tries to write what is left; never rejects. */
  flush(): void {
    if (this.writing !== undefined || this.notes.length === 0) return;
    this.writing = this.write()
      .catch((err: unknown) =>
        this.log.debug({ msg: 'a doubt of the prober was not noted yet; it will be tried again', err }),
      )
      .finally(() => (this.writing = undefined));
  }

  private async write(): Promise<void> {
    for (let note = this.notes[0]; note !== undefined; note = this.notes[0]) {
      const { kind, reason, evidence, at } = note;
      const params = [kind, this.config.replicaId, reason, JSON.stringify(evidence), at];
      await this.sql.run('prober_note', NOTE, params);
      if (this.notes[0] === note) this.notes.shift();
    }
  }
}
