import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  DELIVERY_OUTCOMES,
  deliveryIdOf,
  isTerminal,
  nextTaskState,
  parseDeliveryId,
  TASK_EVENTS,
  TASK_STATES,
  TASK_TRANSITIONS,
  TERMINAL_STATES,
  type TaskState,
} from './task-state.js';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const ledger = read('../../migrations/1764500001000-ledger.ts');
const statement = (name: string): string => read(`../scheduler/sql/${name}.sql`);

/** The quoted words of the first parenthesis after `start`. */
function listAfter(text: string, start: string): string[] {
  const from = text.indexOf(start);
  expect(from).toBeGreaterThanOrEqual(0);
  const end = text.indexOf(')', from);
  return [...text.slice(from, end).matchAll(/'([a-z]+)'/g)].map((m) => m[1] as string);
}

describe('the table of task states', () => {
  test('no event leads out of a terminal state', () => {
    for (const state of TERMINAL_STATES)
      for (const event of TASK_EVENTS) expect(nextTaskState(state, event)).toBeUndefined();
  });

  test('every state is reached, and every open one can be left for an end', () => {
    const reached = new Set<TaskState>([
      'queued',
      'scheduled',
      ...TASK_EVENTS.map((e) => TASK_TRANSITIONS[e].to),
    ]);
    expect([...reached].sort()).toEqual([...TASK_STATES].sort());
    for (const state of TASK_STATES)
      if (!isTerminal(state)) expect(nextTaskState(state, 'cancel')).toBe('canceled');
  });

  test('any sequence of events keeps to the table: one end at the most, and it is kept', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...TASK_EVENTS), { maxLength: 60 }), (events) => {
        let state: TaskState = 'queued';
        let ended: TaskState | undefined;
        for (const event of events) {
          state = nextTaskState(state, event) ?? state;
          if (ended !== undefined) expect(state).toBe(ended);
          else if (isTerminal(state)) ended = state;
        }
      }),
    );
  });
});

describe('the database keeps to the same table', () => {
  test('CHECK of the states, and the trigger that guards the ends', () => {
    expect(listAfter(ledger, 'state                text        NOT NULL CHECK (state IN')).toEqual([
      ...TASK_STATES,
    ]);
    expect(listAfter(ledger, 'WHEN ((OLD.state IN')).toEqual([...TERMINAL_STATES]);
    expect(listAfter(ledger, 'outcome     text        NOT NULL CHECK (outcome IN')).toEqual([
      ...DELIVERY_OUTCOMES,
    ]);
  });

  test.each([
    ['ack', "SET state = 'running'", "t.state = 'offered'"],
    [
      'complete',
      "SET state = 'succeeded'",
      "(t.state = 'running' OR (t.state = 'offered' AND t.transport = 'push'))",
    ],
    ['offer', "state = 'offered'", "t.state = 'queued'"],
    ['make_due', "SET state = 'queued'", "t.state = 'scheduled'"],
    ['cancel', "SET state = 'canceled'", "t.state IN ('scheduled', 'queued', 'offered', 'running')"],
    ['expire', "SET state = 'expired'", "t.state IN ('scheduled', 'queued')"],
    ['close', 'state = i.next', 't.state = i.seen'],
  ])('%s.sql is guarded by state and fence', (name, change, guard) => {
    const sql = statement(name).replace(/\s+/g, ' ').replaceAll("state || ''", 'state');
    expect(sql).toContain(change);
    expect(sql).toContain(guard);
    expect(sql).toMatch(/t\.fence = (i|h)\.fence/);
  });
});

test('a delivery id names its task and fence', () => {
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), fc.integer({ min: 1, max: 999_999_999 }), (taskId, fence) => {
      expect(parseDeliveryId(deliveryIdOf(taskId, fence))).toEqual({ taskId, fence });
    }),
  );
});
