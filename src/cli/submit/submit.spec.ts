import type { TaskBatchAnswer, TaskRequest } from '@agent-reach/sdk';
import { UsageError } from '../usage-error.js';
import { parseRecords } from './read-records.js';
import { sendBatches } from './send-batches.js';
import { payloadOf, tasksOf } from './tasks-of.js';

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split('\n');
}

async function recordsOf(text: string): Promise<unknown[]> {
  const records: unknown[] = [];
  for await (const record of parseRecords(linesOf(text))) records.push(record);
  return records;
}

describe('records', () => {
  it.each([
    ['JSON Lines', '{"a":1}\n\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ['an array on one line', '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['an array over many lines', '[\n  {"a":1},\n  {"a":2}\n]\n', [{ a: 1 }, { a: 2 }]],
    ['one document over many lines', '{\n "a": 1\n}', [{ a: 1 }]],
    ['lines that are arrays, after the first', '{"a":1}\n[2]', [{ a: 1 }, [2]]],
    ['a byte order mark', '\ufeff{"a":1}', [{ a: 1 }]],
    ['nothing', '\n', []],
  ])('are read from %s', async (_name, text, records) => {
    expect(await recordsOf(text)).toEqual(records);
  });

  it('name the line that is not JSON', async () => {
    await expect(recordsOf('{"a":1}\nnope')).rejects.toThrow('line 2 is not JSON');
    await expect(recordsOf('nope\n{"a":1}')).rejects.toThrow(UsageError);
  });
});

describe('tasks', () => {
  it('take a record as the payload where the target is on the command line', () => {
    const { one, of } = tasksOf('a.b', { priority: 5, tag: ['x'] });
    expect(one(7)).toEqual({ capability: 'a.b', priority: 5, constraints: { tags: ['x'] }, payload: 7 });
    expect(of({ capability: 'c.d' }, 1).payload).toEqual({ capability: 'c.d' });
  });

  it('take a record as the task where it is not, with the flags as defaults', () => {
    const { of } = tasksOf(undefined, { priority: 5 });
    expect(of({ capability: 'c.d', priority: 9 }, 1)).toEqual({ capability: 'c.d', priority: 9 });
    expect(() => of([1], 3)).toThrow('record 3 is not a task');
    expect(() => tasksOf(undefined, {}).one(1)).toThrow(UsageError);
  });

  it('take JSON or text from the command line, and no half of an object', () => {
    expect(['{"a":1}', ' [1]', '7', 'null', undefined].map(payloadOf)).toEqual([
      { a: 1 },
      [1],
      7,
      null,
      null,
    ]);
    expect(['hello', "it's 7 o'clock", ''].map(payloadOf)).toEqual(['hello', "it's 7 o'clock", '']);
    for (const slip of ['{bad', '{"a":1', " {'a':1}", '[1,]'])
      expect(() => payloadOf(slip)).toThrow('--payload is not JSON');
  });
});

describe('batches', () => {
  const quiet = { add: () => undefined, grow: () => undefined };
  async function* many(count: number): AsyncGenerator<TaskRequest> {
    for (let i = 0; i < count; i++) yield { capability: 'a.b', payload: i };
  }
  const accepted = (task: TaskRequest) => ({
    task_id: String(task.payload),
    state: 'queued' as const,
    deduplicated: false,
  });
  const refused = (retryable: boolean) => ({ error: { code: 'REACH_X', detail: 'x', retryable } });
  const answer = (results: TaskBatchAnswer['results']) =>
    Promise.resolve({ results, accepted: 0, rejected: 0 });

  it('hold 500 tasks at most', async () => {
    const sizes: number[] = [];
    const client = {
      enqueueBatch: (tasks: readonly TaskRequest[]) => {
        sizes.push(tasks.length);
        return answer(tasks.map(accepted));
      },
    };
    const submitted = await sendBatches(client, many(1100), quiet);
    expect(sizes).toEqual([500, 500, 100]);
    expect(submitted.accepted).toHaveLength(1100);
  });

  it('send again what is refused for now, and name what is refused for good', async () => {
    let round = 0;
    const client = {
      enqueueBatch: (tasks: readonly TaskRequest[]) => {
        round += 1;
        return answer(
          tasks.map((task) => {
            if (task.payload === 1) return refused(false);
            return task.payload === 2 && round === 1 ? refused(true) : accepted(task);
          }),
        );
      },
    };
    const submitted = await sendBatches(client, many(4), quiet);
    expect(submitted.accepted.map((a) => a.task_id)).toEqual(['0', '3', '2']);
    expect(submitted.rejected).toEqual([{ record: 2, problem: refused(false).error }]);
  });
});
