import { FAULTS } from '../plan/schedule.js';
import { type Check, type FaultLine, type History, type Violation } from './history.js';

/* What must hold of answers: errors say what they are, and counters tell what is in the ledger. */

/** What a submit of a good task may be answered with; 0: no answer. 429: its lane is full. */
const ANSWERS: ReadonlySet<number> = new Set([0, 200, 202, 429, 503]);

export const honestAnswers: Check = {
  name: 'unexpected_answers',
  says: 'A good call is answered with success, with 429 or 503, or not at all',
  find: ({ of }) =>
    of.client.flatMap((line) =>
      line.event === 'answer' && !ANSWERS.has(line.status)
        ? [{ what: `${line.call} ${line.key ?? line.task} was answered ${line.status} ${line.code ?? ''}` }]
        : line.event === 'not_found'
          ? [{ what: 'was accepted and then not found', task: line.task }]
          : [],
    ),
};

export const nothingInvented: Check = {
  name: 'invented',
  says: 'Every task in the ledger was submitted',
  find: ({ of }) => {
    const keys = new Set(of.client.map((line) => ('key' in line ? line.key : undefined)));
    const keyOf = new Map(of.keys.map((k) => [k.task_id, k.key]));
    return of.tasks.flatMap((t) =>
      keys.has(keyOf.get(t.id)) ? [] : [{ what: `number ${t.n} has a key that nobody sent`, task: t.id }],
    );
  },
};

export const countersAreTrue: Check = {
  name: 'counters_differ',
  says: 'Counters tell no more than the rows, and no less unless a commit may not have been heard of',
  find: ({ of }) => {
    if (of.counters === undefined) return [];
    const { counters } = of;
    const all = !of.faults.some(mayHideCommits);
    return [...rowCounts(of)].flatMap(([name, rows]): Violation[] => {
      const counted = counters.get(name) ?? 0;
      return counted > rows || (all && counted < rows)
        ? [{ what: `${name}: ${counted} counted, ${rows} rows` }]
        : [];
    });
  },
};

/** A statement commits, and its answer does not arrive, or comes when nobody waits for it any more. */
const HIDING: ReadonlySet<string> = new Set(['dispatcher', 'link', 'postgres']);
const LONG_STALL_MS = 2000;

function mayHideCommits(fault: FaultLine): boolean {
  if (fault.event === 'stall') return fault.ms > LONG_STALL_MS;
  return fault.event === 'start' && HIDING.has(FAULTS[fault.kind].target);
}

function rowCounts(of: History): Map<string, number> {
  const counts = new Map<string, number>([['accepted', of.tasks.length]]);
  for (const { state } of of.tasks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

export const goesInOrder: Check = {
  name: 'unclean_exit',
  says: 'A dispatcher that is asked to end does so, with exit code 0',
  find: ({ of }) =>
    of.faults.flatMap((line) =>
      line.event === 'exit' && line.code !== 0
        ? [{ what: `dispatcher ${line.target} ended with ${line.code ?? 'a signal'}` }]
        : [],
    ),
};

export const CLIENT_CHECKS: readonly Check[] = [honestAnswers, nothingInvented, countersAreTrue, goesInOrder];
