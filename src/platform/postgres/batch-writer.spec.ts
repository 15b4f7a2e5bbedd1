import { BatchWriter, type BatchWriterOptions, Overloaded, type Turn, WriterClosed } from './batch-writer.js';

const dataError = (): Error => Object.assign(new Error('bad row'), { code: '22P02', severity: 'ERROR' });
const lost = (): Error => Object.assign(new Error('gone'), { code: 'ECONNRESET' });

/** A statement whose turns end when the test says so. */
class Statement {
  readonly batches: (readonly number[])[] = [];
  private readonly watchers: (() => void)[] = [];
  private readonly ends: ((error?: Error) => void)[] = [];

  readonly write = (items: readonly number[]): Promise<number[]> => {
    this.batches.push(items);
    for (const tell of this.watchers.splice(0)) tell();
    return new Promise((resolve, reject) => {
      this.ends.push((error) => (error ? reject(error) : resolve(items.map((item) => item * 10))));
    });
  };

  /** Resolves when the statement has been run `times` times. */
  async ran(times: number): Promise<void> {
    while (this.batches.length < times) await new Promise<void>((resolve) => this.watchers.push(resolve));
  }

  end(error?: Error): void {
    this.ends.shift()?.(error);
  }
}

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function writerOf(
  write: BatchWriterOptions<number, number>['write'],
  options: Partial<BatchWriterOptions<number, number>> = {},
): BatchWriter<number, number> {
  return new BatchWriter({ name: 'test', write, maxBatch: 100, maxQueue: 1_000, ...options });
}

describe('BatchWriter', () => {
  it('writes at once at rest, then gathers what arrives while a batch is committing', async () => {
    const statement = new Statement();
    const writer = writerOf(statement.write);
    const first = writer.write(1);
    await statement.ran(1);
    const later = [writer.write(2), writer.write(3)];
    await nextRound();
    expect(statement.batches).toEqual([[1]]);

    statement.end();
    expect(await first).toBe(10);
    await statement.ran(2);
    expect(statement.batches).toEqual([[1], [2, 3]]);
    statement.end();
    expect(await Promise.all(later)).toEqual([20, 30]);
  });

  it('keeps batches, concurrent turns and the queue within their limits', async () => {
    const statement = new Statement();
    const writer = writerOf(statement.write, { maxBatch: 2, concurrency: 2, maxQueue: 5 });
    const writes = [1, 2, 3, 4, 5].map((item) => writer.write(item));
    await expect(writer.write(6)).rejects.toThrow(Overloaded);
    await nextRound();
    expect(statement.batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(writer.depth).toBe(1);
    statement.end();
    statement.end();
    await statement.ran(3);
    statement.end();
    expect(await Promise.all(writes)).toEqual([10, 20, 30, 40, 50]);
  });

  it('lets poisoned rows fail alone, with few statements', async () => {
    const poison = new Set([7, 64]);
    let statements = 0;
    const writer = writerOf(async (items) => {
      statements++;
      if (items.some((item) => poison.has(item))) throw dataError();
      return items.map((item) => item);
    });
    const items = Array.from({ length: 100 }, (_, at) => at);
    const results = await Promise.allSettled(items.map((item) => writer.write(item)));
    const failed = results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []));
    expect(failed).toEqual([7, 64]);
    expect(statements).toBeLessThan(32);
  });

  it('treats a value that cannot be written down as one bad row', async () => {
    const writer = writerOf(async (items) => {
      if (items.includes(2)) throw new TypeError('Do not know how to serialize a BigInt');
      return [...items];
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => writer.write(item)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('repeats the whole batch after an error that passes, and tells of it', async () => {
    const turns: Turn[] = [];
    const pauses: number[] = [];
    let failures = 3;
    const writer = writerOf(
      async (items) => {
        if (failures-- > 0) throw lost();
        return [...items];
      },
      {
        rng: () => 0.5,
        sleep: async (ms) => pauses.push(ms),
        onTurn: (turn) => turns.push(turn),
      },
    );
    expect(await Promise.all([writer.write(1), writer.write(2)])).toEqual([1, 2]);
    await nextRound();
    expect(pauses).toEqual([25, 50, 100]);
    expect(turns).toMatchObject([{ size: 2, retries: 3 }]);
  });

  it('gives up when the oldest item has waited for long enough, and does not make the next wait as long', async () => {
    let nowMs = 0;
    let statements = 0;
    const writer = writerOf(
      async () => {
        statements++;
        throw lost();
      },
      { clock: () => nowMs, sleep: async (ms) => (nowMs += ms), retryForMs: 1_000, maxBatch: 1 },
    );
    const results = await Promise.allSettled([writer.write(1), writer.write(2)]);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(nowMs).toBeLessThanOrEqual(1_000);
    const triesOfFirst = statements - 1;
    expect(triesOfFirst).toBeGreaterThan(3);
  });

  it('fails the batch at once when the statement itself is wrong', async () => {
    let statements = 0;
    const writer = writerOf(async () => {
      statements++;
      throw Object.assign(new Error('syntax'), { code: '42601', severity: 'ERROR' });
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => writer.write(item)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(statements).toBe(1);
  });

  it('refuses outputs that do not match the items', async () => {
    const writer = writerOf(async () => []);
    await expect(writer.write(1)).rejects.toThrow('0 outputs for 1 items');
  });

  it('drains on close and takes nothing after', async () => {
    const statement = new Statement();
    const writer = writerOf(statement.write, { maxBatch: 1 });
    const writes = [writer.write(1), writer.write(2)];
    const closing = writer.close();
    await expect(writer.write(3)).rejects.toThrow(WriterClosed);
    await statement.ran(1);
    statement.end();
    await statement.ran(2);
    statement.end();
    await closing;
    expect(await Promise.all(writes)).toEqual([10, 20]);
    await writer.close();
  });

  it('answers every one of 10 000 callers and holds on to none of them', async () => {
    const writer = writerOf(async (items) => items.map((item) => item + 1), {
      maxQueue: 10_000,
      maxBatch: 64,
    });
    const results = await Promise.all(Array.from({ length: 10_000 }, (_, at) => writer.write(at)));
    expect(results.every((value, at) => value === at + 1)).toBe(true);
    expect(writer.depth).toBe(0);
  });
});
