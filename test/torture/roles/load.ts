import { setTimeout as pause } from 'node:timers/promises';
import { Ledger, nowMs } from '../ledger.js';
import { type Plan, planOf } from '../plan/work.js';
import { onOrder, ordersOf, tell } from './role.js';

/** The client: submits tasks at a rate, and does with them what their plans say. */
export interface LoadOrders {
  ledger: string;
  namespace: string;
  urls: string[];
  seed: number;
  tasks: number;
  perSecond: number;
  /** Whether there may be tasks that kill their agents. */
  poison: boolean;
  /** After the end of the stream: how long to go on for an answer that is missing. */
  giveUpMs: number;
}

const CALL_TIMEOUT_MS = 10_000;
/** Submits without a definite answer; the stream waits where there are more. */
const MOST_OPEN = 400;
const PAUSE_MS = 250;
const BATCH = 10;
const OVERLOAD = 10;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

const orders = ordersOf<LoadOrders>();
const ledger = new Ledger(orders.ledger);
let turn = 0;
let open = 0;
let factor = 1;
let stopped = false;
let stoppedAt = Infinity;
/** What goes on beside the stream: repeats, cancels, watches. */
const pending = new Set<Promise<void>>();

onOrder((order) => {
  if (order === 'faster') factor = OVERLOAD;
  if (order === 'as before') factor = 1;
  if (order !== 'stop' || stopped) return;
  stopped = true;
  stoppedAt = nowMs();
});

/** A call to the dispatchers in turn; undefined: no answer. */
async function call(method: string, path: string, body?: object, key?: string): Promise<Answer | undefined> {
  const url = orders.urls[turn++ % orders.urls.length] ?? '';
  try {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}

/** Notes a call and its answer. */
async function noted(
  what: { call: string; key?: string; task?: string },
  make: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const id = turn;
  ledger.write({ event: 'call', id, ...what });
  const began = nowMs();
  const answer = await make();
  const code = answer?.body['code'];
  ledger.write({
    event: 'answer',
    id,
    ...what,
    status: answer?.status ?? 0,
    took_ms: Math.round(nowMs() - began),
    ...(code !== undefined && { code }),
  });
  return answer;
}

const bodyOf = (plan: Plan) => ({ namespace: orders.namespace, ...plan.order });
const isFinal = (status: number) => status === 202 || (status >= 400 && status < 500 && status !== 429);

/** Submits until there is a definite answer. */
async function submit(plan: Plan): Promise<void> {
  for (;;) {
    const answer = await noted({ call: 'submit', key: plan.key }, () =>
      call('POST', 'tasks', bodyOf(plan), plan.key),
    );
    if (answer !== undefined && isFinal(answer.status)) return settled(plan, answer.status, answer.body);
    if (nowMs() > stoppedAt + orders.giveUpMs) return gaveUp(plan);
    await pause(PAUSE_MS);
  }
}

/** Submits several in one call; what was not taken goes on by itself. */
async function submitBatch(plans: Plan[]): Promise<void> {
  const tasks = plans.map((plan) => ({ ...bodyOf(plan), idempotency_key: plan.key }));
  for (const plan of plans) ledger.write({ event: 'call', call: 'submit', key: plan.key });
  const answer = await call('POST', 'tasks/batch', { tasks });
  const results = (answer?.status === 202 ? answer.body['results'] : []) as Record<string, unknown>[];
  await Promise.all(
    plans.map(async (plan, i) => {
      const result = results[i];
      if (result?.['task_id'] !== undefined) settled(plan, 202, result);
      else await submit(plan);
    }),
  );
}

function gaveUp(plan: Plan): void {
  ledger.write({ event: 'gave_up', key: plan.key });
}

function settled(plan: Plan, status: number, body: Record<string, unknown>): void {
  const task = body['task_id'] as string | undefined;
  ledger.write({
    event: 'settled',
    key: plan.key,
    status,
    deduplicated: body['deduplicated'] === true,
    ...(task !== undefined && { task }),
    ...(status !== 202 && { body }),
  });
  if (status !== 202 || task === undefined) return;
  if (plan.repeatAfterMs !== undefined) beside(repeat(plan, plan.repeatAfterMs));
  if (plan.cancelAfterMs !== undefined) beside(cancel(task, plan.cancelAfterMs));
  if (plan.watched) beside(watch(task));
}

function beside(work: Promise<void>): void {
  pending.add(work);
  void work.finally(() => pending.delete(work));
}

async function repeat(plan: Plan, afterMs: number): Promise<void> {
  await pause(afterMs);
  const answer = await noted({ call: 'repeat', key: plan.key }, () =>
    call('POST', 'tasks', bodyOf(plan), plan.key),
  );
  if (answer?.status !== 202) return;
  const { task_id, deduplicated } = answer.body;
  ledger.write({ event: 'settled', key: plan.key, status: 202, task: task_id, deduplicated, again: true });
}

async function cancel(task: string, afterMs: number): Promise<void> {
  await pause(afterMs);
  const answer = await noted({ call: 'cancel', task }, () =>
    call('POST', `tasks/${task}/cancel?namespace=${orders.namespace}`),
  );
  if (answer?.status === 200) ledger.write({ event: 'canceled', task, ...answer.body });
}

/** Waits for the end, notes it, and looks once more some time later: an end is never left. */
async function watch(task: string): Promise<void> {
  const path = `tasks/${task}?namespace=${orders.namespace}`;
  while (nowMs() < stoppedAt + orders.giveUpMs) {
    const answer = await call('GET', `${path}&wait_ms=5000`);
    if (answer?.status === 200 && answer.body['finished_at'] !== undefined) {
      ledger.write({ event: 'seen', task, state: answer.body['state'], result: answer.body['result'] });
      return;
    }
    // A task that was accepted and is not found is worth a line: at once after a commit it must be there.
    if (answer?.status === 404) ledger.write({ event: 'not_found', task });
    await pause(PAUSE_MS);
  }
}

async function stream(): Promise<void> {
  let next = nowMs();
  const batch: Plan[] = [];
  const send = (plans: number, work: Promise<void>): void => {
    open += plans;
    beside(work.finally(() => (open -= plans)));
  };
  for (let n = 0; n < orders.tasks && !stopped; n++) {
    const ahead = next - nowMs();
    next += 1000 / (orders.perSecond * factor);
    if (ahead > 4) await pause(ahead);
    while (open >= MOST_OPEN && !stopped) await pause(20);
    const plan = planOf(orders.seed, n, orders.poison);
    if (plan.batched) batch.push(plan);
    else send(1, submit(plan));
    if (batch.length === BATCH) send(BATCH, submitBatch(batch.splice(0)));
  }
  if (batch.length > 0) send(batch.length, submitBatch(batch));
}

await stream();
tell('submitted');
while (pending.size > 0) await Promise.all(pending);
ledger.write({ event: 'done' });
ledger.close();
tell('done');
