import { type Check, ENDS, fenceOf, type Indexed, type TaskRow, type Violation } from './history.js';

/* What must hold of each task: it is kept, it ends once, and one execution is its result. */

/** Violations of a rule about single tasks. */
function ofTasks(rule: (task: TaskRow, history: Indexed) => string | undefined) {
  return (history: Indexed): Violation[] =>
    history.of.tasks.flatMap((task) => {
      const what = rule(task, history);
      return what === undefined ? [] : [{ what, task: task.id }];
    });
}

export const acceptedIsKept: Check = {
  name: 'accepted_missing',
  says: 'A task that was answered with 202 is in the ledger',
  find: ({ of, tasks }) =>
    of.client.flatMap((line) =>
      line.event === 'settled' && line.status === 202 && !tasks.has(line.task ?? '')
        ? [
            {
              what: `key ${line.key} was accepted as ${line.task}, which is not there`,
              task: line.task ?? '',
            },
          ]
        : [],
    ),
};

export const endsOnce: Check = {
  name: 'not_exactly_one_end',
  says: 'Every task comes to exactly one terminal state',
  find: ofTasks((task, { transitions }) => {
    if (!ENDS.has(task.state)) return `still ${task.state} after the quiet time`;
    const ends = (transitions.get(task.id) ?? []).filter((t) => ENDS.has(t.state) && t.was !== t.state);
    return ends.length === 1 ? undefined : `came to an end ${ends.length} times`;
  }),
};

export const endIsNeverLeft: Check = {
  name: 'left_its_end',
  says: 'A terminal state is never left, and every answer about it stays true',
  find: ({ of, tasks }) => [
    ...of.transitions.flatMap((t) =>
      t.was !== null && ENDS.has(t.was) && t.state !== t.was
        ? [{ what: `went from ${t.was} to ${t.state}`, task: t.task_id }]
        : [],
    ),
    ...of.client.flatMap((line) => {
      const is = 'task' in line ? tasks.get(line.task ?? '') : undefined;
      if (is === undefined) return [];
      if (line.event === 'seen' && line.state !== is.state)
        return [{ what: `the client saw it ${line.state}, and it is ${is.state}`, task: is.id }];
      if (line.event === 'seen' && JSON.stringify(line.result ?? null) !== JSON.stringify(is.result))
        return [{ what: 'the client saw another result than the one that is kept', task: is.id }];
      if (line.event === 'canceled' && line.state !== is.state)
        return [{ what: `the answer to a cancel said ${line.state}, and it is ${is.state}`, task: is.id }];
      return [];
    }),
  ],
};

export const oneResult: Check = {
  name: 'not_one_effective_result',
  says: 'A task that succeeded has one result, of an execution by the agent whose delivery counted',
  find: ofTasks((task, { deliveries, executions }) => {
    const counted = (deliveries.get(task.id) ?? []).filter((d) => d.outcome === 'succeeded');
    if (counted.length !== (task.state === 'succeeded' ? 1 : 0))
      return `is ${task.state} with ${counted.length} deliveries that succeeded`;
    const [delivery] = counted;
    if (delivery === undefined) return task.result === null ? undefined : `is ${task.state} and has a result`;
    const execution = (executions.get(task.id) ?? []).find((e) => e.token === task.result?.token);
    if (execution === undefined) return `its result ${JSON.stringify(task.result)} was made by no execution`;
    // An agent may report what it made at an earlier delivery of the task, but no other agent's work counts.
    if (execution.agent !== delivery.agent_id)
      return `its result is of ${execution.agent}, and the delivery that counted was ${delivery.agent_id}'s`;
    return fenceOf(execution.delivery) <= delivery.fence ? undefined : 'its result is of a later delivery';
  }),
};

export const fencesRise: Check = {
  name: 'fence_reused_or_not_rising',
  says: 'Each offer raises the fence by one, nothing else changes it, and each delivery is closed once',
  find: ofTasks((task, { deliveries, transitions }) => {
    const steps = transitions.get(task.id) ?? [];
    // A task that lost its seat before it was inserted begins at 1, with no delivery of that number.
    const seat = steps[0] !== undefined && steps[0].state !== 'offered' && steps[0].fence === 1 ? 1 : 0;
    let fence = seat;
    for (const t of steps) {
      const rise = t.state === 'offered' && t.was !== 'offered' ? 1 : 0;
      if (t.fence !== fence + rise) return `the fence went from ${fence} to ${t.fence} at "${t.state}"`;
      fence = t.fence;
    }
    const closed = (deliveries.get(task.id) ?? []).map((d) => d.fence).sort((a, b) => a - b);
    if (ENDS.has(task.state) && closed.some((f, i) => f !== seat + i + 1))
      return `its closed deliveries are ${closed.join(', ')}`;
    return closed.length === task.fence - seat || !ENDS.has(task.state)
      ? undefined
      : `${task.fence - seat} deliveries, and ${closed.length} of them closed`;
  }),
};

export const attemptsAreBounded: Check = {
  name: 'past_the_attempt_limit',
  says: 'A task is attempted at most max_attempts times',
  find: ofTasks((task, { deliveries, executions }) => {
    const charged = (deliveries.get(task.id) ?? []).filter((d) => d.outcome !== 'released').length;
    if (charged > task.max_attempts) return `${charged} attempts of at most ${task.max_attempts}`;
    const begun = new Set((executions.get(task.id) ?? []).map((e) => e.delivery)).size;
    return begun > task.max_attempts ? `was begun ${begun} times of at most ${task.max_attempts}` : undefined;
  }),
};

export const failuresAreExplained: Check = {
  name: 'not_exactly_one_attribution',
  says: 'Each failed attempt and each failed or expired task has exactly one attribution, and nothing else has',
  find: ofTasks((task, { deliveries, attributions }) => {
    const said = attributions.get(task.id) ?? [];
    for (const delivery of deliveries.get(task.id) ?? []) {
      const count = said.filter((a) => a.fence === delivery.fence).length;
      if (count !== (delivery.outcome === 'failed' ? 1 : 0))
        return `delivery ${delivery.fence} ${delivery.outcome}, with ${count} attributions`;
    }
    const final = said.filter((a) => a.final).length;
    const ended = task.state === 'failed' || task.state === 'expired' ? 1 : 0;
    return !ENDS.has(task.state) || final === ended
      ? undefined
      : `${task.state}, with ${final} final attributions`;
  }),
};

export const keysNameOneTask: Check = {
  name: 'key_of_two_tasks',
  says: 'An idempotency key is answered by one task id, and makes one task',
  find: ({ of }) => {
    const byKey = new Map<string, string>();
    const found: Violation[] = [];
    const see = (key: string, task: string, who: string): void => {
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, task);
      else if (known !== task) found.push({ what: `key ${key}: ${known}, then ${task} by ${who}`, task });
    };
    for (const line of of.client)
      if (line.event === 'settled' && line.status === 202) see(line.key, line.task ?? '', 'an answer');
    for (const row of of.keys) see(row.key, row.task_id, 'the ledger');
    const numbers = new Map<number, string>();
    for (const { n, id } of of.tasks) {
      if (numbers.has(n))
        found.push({ what: `task number ${n} is there twice, also as ${numbers.get(n)}`, task: id });
      numbers.set(n, id);
    }
    return found;
  },
};

export const harmOnlyOnce: Check = {
  name: 'begun_again_though_not_idempotent',
  says: 'A task that is not idempotent is begun again only after the agent declined it',
  find: ofTasks((task, { executions }) => {
    if (task.idempotent) return undefined;
    const began = executions.get(task.id) ?? [];
    const again = began.find((e, i) => i < began.length - 1 && e.fate !== 'refuses');
    return again === undefined ? undefined : `began ${began.length} times; ${again.delivery} had been begun`;
  }),
};

export const TASK_CHECKS: readonly Check[] = [
  acceptedIsKept,
  endsOnce,
  endIsNeverLeft,
  oneResult,
  fencesRise,
  attemptsAreBounded,
  failuresAreExplained,
  keysNameOneTask,
  harmOnlyOnce,
];
