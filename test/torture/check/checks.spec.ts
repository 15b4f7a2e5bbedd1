import {
  attribution,
  begin,
  delivery,
  end,
  fault,
  historyOf,
  lease,
  path,
  pathOf,
  process,
  result,
  settled,
  task,
} from './a-history.js';
import { type History, Indexed } from './history.js';
import { CHECKS, runChecks } from './run-checks.js';

/*
 * The checker is checked: for each invariant histories that break it, which it must find, and such that look
 * like it and do not, which it must let pass.
 */

interface Case {
  name: string;
  history: Partial<History>;
  breaks: boolean;
}
const breaks = (name: string, history: Partial<History>): Case => ({ name, history, breaks: true });
const keeps = (name: string, history: Partial<History>): Case => ({ name, history, breaks: false });

const failed = task({ state: 'failed', result: null });
const failedDelivery = delivery({ outcome: 'failed', code: 'AGENT_ERROR' });
const twice = path('queued', 'offered', 'running', 'scheduled', 'queued', 'offered', 'running', 'succeeded');
const wasted = (times: number) =>
  Array.from({ length: times }, (_, i) => delivery({ fence: i + 1, outcome: 'failed', code: 'ACK_TIMEOUT' }));
const called = historyOf().client;
const late: History['client'][number] = { at: 9000, event: 'call', call: 'submit', key: 'k1' };
const dead: History['faults'][number] = { at: 1000, event: 'dead', agents: ['a1'] };
const offeredAt = (at: number) => pathOf({ from: at }, 'queued', 'offered', 'running', 'succeeded');

const CASES: Record<string, Case[]> = {
  accepted_missing: [
    breaks('an accepted task is gone', { tasks: [] }),
    keeps('a refused one need not be there', { tasks: [], client: [settled({ status: 400 })] }),
  ],
  not_exactly_one_end: [
    breaks('still running', {
      tasks: [task({ state: 'running' })],
      transitions: path('queued', 'offered', 'running'),
    }),
    breaks('ended twice', { transitions: path('queued', 'offered', 'failed', 'succeeded') }),
    breaks('an end without a change to it', { transitions: path('queued', 'offered', 'running') }),
    keeps('canceled while it waited', {
      tasks: [task({ state: 'canceled', fence: 0, result: null })],
      transitions: path('queued', 'canceled'),
    }),
  ],
  left_its_end: [
    breaks('from succeeded to failed', { transitions: path('queued', 'offered', 'succeeded', 'failed') }),
    breaks('the client saw another end', {
      client: [{ at: 5, event: 'seen', task: 't1', state: 'failed' }],
    }),
    breaks('the client saw another result', {
      client: [{ at: 5, event: 'seen', task: 't1', state: 'succeeded', result: result('t1.2@7') }],
    }),
    breaks('a cancel was answered, and it succeeded', {
      client: [{ at: 5, event: 'canceled', task: 't1', canceled: true, state: 'canceled' }],
    }),
    keeps('a cancel came too late and said so', {
      client: [{ at: 5, event: 'canceled', task: 't1', canceled: false, state: 'succeeded' }],
    }),
  ],
  not_one_effective_result: [
    breaks('two deliveries succeeded', { deliveries: [delivery(), delivery({ fence: 2 })] }),
    breaks('succeeded, and no delivery did', { deliveries: [failedDelivery] }),
    breaks('failed, and a delivery succeeded', { tasks: [failed] }),
    breaks('a result that nobody made', { tasks: [task({ result: result('t1.1@99') })] }),
    breaks("another agent's late result", {
      agents: [process(), begin({ agent: 'a2' }), end({ agent: 'a2' })],
    }),
    keeps("the same agent's result of an earlier delivery", {
      tasks: [task({ fence: 2 })],
      deliveries: [failedDelivery, delivery({ fence: 2 })],
    }),
  ],
  fence_reused_or_not_rising: [
    breaks('offered again under the same fence', {
      transitions: path('queued', 'offered', 'queued', 'offered').map((t) => ({
        ...t,
        fence: Math.min(t.fence, 1),
      })),
    }),
    breaks('a delivery was never closed', { tasks: [task({ fence: 2 })], transitions: twice }),
    breaks('the fence was skipped', { deliveries: [delivery({ fence: 2 })] }),
    keeps('two deliveries, both closed', {
      tasks: [task({ fence: 2 })],
      transitions: twice,
      deliveries: [failedDelivery, delivery({ fence: 2 })],
    }),
  ],
  past_the_attempt_limit: [
    breaks('two attempts of one', {
      tasks: [task({ max_attempts: 1 })],
      deliveries: [failedDelivery, delivery({ fence: 2 })],
    }),
    breaks('begun twice of once, whatever the rows say', {
      tasks: [task({ max_attempts: 1 })],
      agents: [begin(), end(), begin({ delivery: 't1.2', at: 6 })],
    }),
    keeps('a released delivery is not charged', {
      tasks: [task({ max_attempts: 1 })],
      deliveries: [delivery({ outcome: 'released' }), delivery({ fence: 2 })],
    }),
  ],
  not_exactly_one_attribution: [
    breaks('an attempt failed and nothing says why', { deliveries: [failedDelivery] }),
    breaks('two reasons for one attempt', {
      deliveries: [failedDelivery],
      attributions: [attribution(), attribution()],
    }),
    breaks('a reason for an attempt that succeeded', { attributions: [attribution()] }),
    breaks('a failed task without a final reason', {
      tasks: [failed],
      deliveries: [failedDelivery],
      attributions: [attribution()],
    }),
    keeps('a failed task with its reason', {
      tasks: [failed],
      deliveries: [failedDelivery],
      attributions: [attribution({ final: true })],
    }),
    keeps('an expired task with its reason', {
      tasks: [task({ state: 'expired', result: null })],
      deliveries: [],
      attributions: [attribution({ fence: null, final: true })],
    }),
  ],
  key_of_two_tasks: [
    breaks('two answers', { client: [settled(), settled({ task: 't2', again: true })] }),
    breaks('another task in the ledger', { keys: [{ key: 'k1', task_id: 't2' }] }),
    breaks('two tasks of one number', { tasks: [task(), task({ id: 't2' })] }),
    keeps('the same answer twice', { client: [settled(), settled({ deduplicated: true, again: true })] }),
  ],
  begun_again_though_not_idempotent: [
    breaks('begun again after it was killed', {
      tasks: [task({ idempotent: false })],
      agents: [begin(), begin({ delivery: 't1.2', at: 8 })],
    }),
    keeps('begun again after it was declined', {
      tasks: [task({ idempotent: false })],
      agents: [begin(), end({ fate: 'refuses' }), begin({ delivery: 't1.2', at: 8 })],
    }),
    keeps('idempotent', { agents: [begin(), begin({ delivery: 't1.2', at: 8 })] }),
  ],
  executed_without_claim: [
    breaks('no ACK was ever noted', { transitions: path('queued', 'offered', 'queued') }),
    breaks('the ACK of the next delivery', {
      transitions: path('queued', 'offered', 'queued', 'offered', 'running').filter(
        (t) => t.state !== 'running' || t.fence === 2,
      ),
    }),
    breaks('begun twice', { agents: [begin(), end(), begin({ at: 6 })] }),
  ],
  above_the_declared_limit: [
    breaks('two open deliveries at an agent for one', {
      transitions: [
        ...pathOf({}, 'queued', 'offered', 'running'),
        ...pathOf({ task: 't2', from: 10 }, 'queued', 'offered'),
      ],
    }),
    breaks('two handlers at a time', {
      agents: [begin(), begin({ task: 't2', delivery: 't2.1', at: 3.5 }), end()],
    }),
    keeps('one after the other', {
      transitions: [
        ...path('queued', 'offered', 'succeeded'),
        ...pathOf({ task: 't2', from: 10 }, 'queued', 'offered'),
      ],
      agents: [begin(), end(), begin({ task: 't2', delivery: 't2.1', at: 5 })],
    }),
    keeps('one went with its process', {
      agents: [process(), begin(), process(5), begin({ task: 't2', delivery: 't2.1', at: 6 })],
    }),
  ],
  offered_to_the_dead: [
    breaks('5 s after its death', { faults: [dead], transitions: offeredAt(6000) }),
    breaks('although others of its kind died as well', {
      faults: [...fault('kill_agents', 999, 9000), dead],
      transitions: offeredAt(6000),
    }),
    keeps('just after its death', { faults: [dead], transitions: offeredAt(2000) }),
    keeps('after it came back', {
      faults: [dead],
      transitions: offeredAt(6000),
      leases: [lease(0), lease(5000)],
    }),
    keeps('while nobody could be heard', {
      faults: [dead, ...fault('lock_tasks', 1500, 4000)],
      transitions: offeredAt(6000),
    }),
  ],
  orphans: [
    breaks('kept for 8 s', {
      faults: [dead],
      transitions: [
        ...pathOf({ from: 998 }, 'queued', 'offered'),
        ...pathOf({ from: 9000 }, 'queued').map((t) => ({ ...t, fence: 1 })),
      ],
    }),
    keeps('taken away in time', {
      faults: [dead],
      transitions: [
        ...pathOf({ from: 998 }, 'queued', 'offered'),
        ...pathOf({ from: 5500 }, 'queued').map((t) => ({ ...t, fence: 1 })),
      ],
    }),
    breaks('it came back, and what its life before held was never taken away', {
      faults: [dead],
      leases: [lease(0), lease(3000)],
      transitions: pathOf({ from: 998 }, 'queued', 'offered'),
    }),
    keeps('it came back, and what it held ended at once', {
      faults: [dead],
      leases: [lease(0), lease(3000)],
      transitions: [
        ...pathOf({ from: 998 }, 'queued', 'offered'),
        ...pathOf({ from: 3001 }, 'queued').map((t) => ({ ...t, fence: 1 })),
      ],
    }),
  ],
  canceled_then_begun: [
    breaks('begun long after', {
      client: [{ at: 5, event: 'canceled', task: 't1', canceled: true, state: 'canceled' }],
      agents: [begin({ at: 4000 })],
    }),
    keeps('the claim was on its way', {
      client: [{ at: 5, event: 'canceled', task: 't1', canceled: true, state: 'canceled' }],
      agents: [begin({ at: 300 })],
    }),
    keeps('the cancel came too late', {
      client: [{ at: 5, event: 'canceled', task: 't1', canceled: false, state: 'succeeded' }],
      agents: [begin({ at: 4000 })],
    }),
  ],
  slot_kept: [
    breaks('seen twice', {
      faults: [
        { at: 5000, event: 'slot_kept', delivery: 't1.1' },
        { at: 7000, event: 'slot_kept', delivery: 't1.1' },
      ],
    }),
    keeps('seen once', { faults: [{ at: 5000, event: 'slot_kept', delivery: 't1.1' }] }),
    keeps('while Redis was away', {
      faults: [
        ...fault('freeze_redis', 1000, 6000),
        { at: 5000, event: 'slot_kept', delivery: 't1.1' },
        { at: 7000, event: 'slot_kept', delivery: 't1.1' },
      ],
    }),
  ],
  drained_away: [
    breaks('finished, left, and counted as lost', {
      agents: [process(), begin(), end(), { at: 6, event: 'stopped', agent: 'a1' }],
      deliveries: [delivery({ outcome: 'failed', code: 'AGENT_LOST' })],
    }),
    keeps('killed, and another process left later', {
      agents: [process(), begin(), end(), process(5), { at: 6, event: 'stopped', agent: 'a1' }],
      deliveries: [delivery({ outcome: 'failed', code: 'AGENT_LOST' })],
    }),
    keeps('its lease had ended', {
      agents: [
        process(),
        begin(),
        { at: 3.5, event: 'lease_lost', agent: 'a1' },
        end(),
        { at: 6, event: 'stopped', agent: 'a1' },
      ],
      deliveries: [delivery({ outcome: 'failed', code: 'AGENT_LOST' })],
    }),
  ],
  amplification: [
    breaks('offers that nobody took', { deliveries: wasted(7) }),
    keeps('a few of them', { deliveries: wasted(5) }),
    keeps('in a time of faults', {
      faults: fault('kill_agents', 0, 100),
      deliveries: wasted(7),
    }),
    keeps('the task itself made it fail', { deliveries: [failedDelivery, delivery({ fence: 2 })] }),
  ],
  unexpected_answers: [
    breaks('a 500', {
      client: [{ at: 1, event: 'answer', call: 'submit', key: 'k1', status: 500, took_ms: 1 }],
    }),
    breaks('accepted and not found', { client: [{ at: 1, event: 'not_found', task: 't1' }] }),
    keeps('a 503', {
      client: [{ at: 1, event: 'answer', call: 'submit', key: 'k1', status: 503, took_ms: 1 }],
    }),
  ],
  invented: [
    breaks('a task of a key that nobody sent', { keys: [{ key: 'k2', task_id: 't1' }] }),
    keeps('one whose answer got lost', { client: [{ at: 1, event: 'call', call: 'submit', key: 'k1' }] }),
  ],
  unclean_exit: [
    breaks('ended with 1', { faults: [{ at: 1, event: 'exit', target: 0, code: 1 }] }),
    breaks('was killed after the grace time', { faults: [{ at: 1, event: 'exit', target: 0, code: null }] }),
    keeps('ended with 0', { faults: [{ at: 1, event: 'exit', target: 0, code: 0 }] }),
  ],
  stood_still: [
    breaks('nothing ends with a small pool', {
      faults: fault('small_pool', 100, 8000),
      client: [...called, late],
    }),
    keeps('something does', {
      faults: fault('small_pool', 100, 8000),
      client: [...called, late],
      transitions: [...path('queued', 'offered', 'running'), ...offeredAt(4000).slice(3)],
    }),
    keeps('something else is broken too', {
      faults: [...fault('small_pool', 100, 8000), ...fault('kill_postgres', 3000, 3100)],
      client: [...called, late],
    }),
    keeps('nothing was asked for', { faults: fault('small_pool', 100, 8000) }),
  ],
  counters_differ: [
    breaks('one too few', { counters: new Map([['accepted', 1]]) }),
    keeps('as many as rows', {
      counters: new Map([
        ['accepted', 1],
        ['succeeded', 1],
      ]),
    }),
    breaks('one too many, whatever was broken', {
      counters: new Map([['accepted', 2]]),
      faults: fault('cut_postgres', 5, 6),
    }),
    keeps('one too few, and its commit may not have been heard of', {
      counters: new Map([['accepted', 1]]),
      faults: fault('cut_postgres', 5, 6),
    }),
    keeps('a dispatcher began anew', { counters: undefined }),
  ],
};

test('a history in which all is well breaks nothing', () => {
  expect(runChecks(historyOf()).filter((f) => f.violations.length > 0)).toEqual([]);
});

test('every invariant has cases that break it', () => {
  const checked = Object.entries(CASES).filter(([, cases]) => cases.some((c) => c.breaks));
  expect(checked.map(([name]) => name).sort()).toEqual(CHECKS.map((c) => c.name).sort());
});

describe.each(Object.entries(CASES))('%s', (name, cases) => {
  const check = CHECKS.find((c) => c.name === name);

  test.each(cases)('$name (breaks: $breaks)', (c) => {
    const found = check?.find(new Indexed(historyOf(c.history)));
    expect(found?.length ?? -1).toEqual(c.breaks ? expect.any(Number) : 0);
    if (c.breaks) expect(found).not.toHaveLength(0);
  });
});
