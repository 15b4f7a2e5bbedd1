import {
  blackHole,
  cold,
  dying,
  flapping,
  recovering,
  slow,
  steady,
  toppling,
  type SimAgent,
} from './agent.js';
import { leastLoaded, Placement, random, roundRobin } from './contenders.js';
import { simulate, type Contender, type Scenario } from './world.js';

/*
 * What placement claims, shown on fleets that are simulated with the real core: windows, scores, breakers, choices,
 * pauses before retries. The clock is virtual and all chance seeded, so a figure is the same on each machine.
 */

const SECOND = 1000;
const good = (n: number, options = {}): SimAgent[] =>
  Array.from({ length: n }, (_, i) => steady(`good-${i}`, options));
const perSecond = (rate: number) => ({ perSecond: () => rate });
const naive = (): Contender[] => [random(), roundRobin(), leastLoaded()];

/** Printed after all tests with SIMULATION_TABLE set: `npm run simulation`. */
const lines: string[] = [];
afterAll(() => {
  if (process.env['SIMULATION_TABLE'] !== undefined) process.stdout.write(`${lines.join('\n')}\n`);
});

function note(scenario: string, contender: string, figures: Record<string, string>): void {
  const text = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  lines.push(`${scenario.padEnd(34)} ${contender.padEnd(20)} ${text.join('   ')}`);
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

describe('a black hole among ten agents, which fails every task in a millisecond', () => {
  const scenario = (): Scenario => ({
    agents: [...good(9), blackHole('hole')],
    forMs: 60 * SECOND,
    load: perSecond(150),
  });

  test.each(['power_of_two', 'best', 'weighted_random', 'weighted_round_robin', 'least_watermark'] as const)(
    '%s: it gets 5 % of the traffic of the first 10 s at most, and of any 10 s after',
    (strategy) => {
      const account = simulate(scenario(), new Placement(strategy, { strategy }));
      note('black hole', strategy, {
        'first 10 s': percent(account.shareOf('hole', 0, 10 * SECOND)),
        success: percent(account.successRate),
      });
      for (let fromMs = 0; fromMs < 60 * SECOND; fromMs += 10 * SECOND)
        expect(account.shareOf('hole', fromMs, fromMs + 10 * SECOND)).toBeLessThan(0.05);
      expect(account.successRate).toBeGreaterThan(0.999);
    },
  );

  test('the naive ones feed it', () => {
    for (const contender of naive()) {
      const account = simulate(scenario(), contender);
      const share = account.shareOf('hole', 0, 10 * SECOND);
      note('black hole', contender.name, {
        'first 10 s': percent(share),
        success: percent(account.successRate),
      });
      expect(share).toBeGreaterThan(0.05);
    }
  });
});

test('one slow node of four: weighing by watermark does at least 30 % more than random', () => {
  const scenario = (): Scenario => ({
    agents: [...good(3, { slots: 16 }), slow('slow', { slots: 16 })],
    forMs: 60 * SECOND,
    load: { callers: 32 },
  });
  const goodput = (contender: Contender) => {
    const rate = simulate(scenario(), contender).goodput(10 * SECOND, 60 * SECOND);
    note('one slow node of four', contender.name, { 'tasks/s': rate.toFixed(0) });
    return rate;
  };
  const base = goodput(random());
  goodput(roundRobin());
  goodput(leastLoaded());
  for (const strategy of ['weighted_random', 'power_of_two', 'least_watermark'] as const)
    expect(goodput(new Placement(strategy, { strategy })) / base).toBeGreaterThan(1.3);
});

test('a P95 that jumps from 120 to 600 ms demotes the agent at once, though 99 % succeed', () => {
  const JUMP = 60 * SECOND;
  const scenario = (): Scenario => ({
    agents: [
      ...good(4, { slots: 20 }),
      slow('jumps', { slots: 20, ms: 100, by: 5, fromMs: JUMP, okShare: 0.99 }),
    ],
    forMs: 120 * SECOND,
    load: perSecond(100),
  });
  for (const contender of [...naive(), new Placement('power_of_two')]) {
    const account = simulate(scenario(), contender);
    const before = account.shareOf('jumps', 30 * SECOND, JUMP);
    const after = account.shareOf('jumps', JUMP + 5 * SECOND, JUMP + 30 * SECOND);
    note('P95 from 120 to 600 ms', contender.name, {
      before: percent(before),
      'from 5 s after': percent(after),
    });
    if (!(contender instanceof Placement)) continue;
    expect(before).toBeGreaterThan(0.1);
    expect(after).toBeLessThan(0.02);
  }
});

test('an agent that is well again has a high score 20 to 30 s after it is let back, and throttled work until then', () => {
  const WELL = 60 * SECOND;
  const scenario: Scenario = {
    agents: [...good(4, { slots: 10 }), recovering('back', { slots: 10, fromMs: 20 * SECOND, toMs: WELL })],
    forMs: 180 * SECOND,
    load: perSecond(100),
  };
  let highMs: number | undefined;
  class Watched extends Placement {
    override ended(...args: Parameters<Placement['ended']>): void {
      super.ended(...args);
      const { endedMs } = args[2];
      if (endedMs > WELL && (this.scoreOf('back', endedMs) ?? 0) > 0.9) highMs ??= endedMs;
    }
  }
  const placement = new Watched('power_of_two');
  const account = simulate(scenario, placement);
  const letBackMs = account.firstOfferMs('back', WELL) ?? NaN;
  const usual = account.shareOf('back', 0, 20 * SECOND);
  const throttled = account.shareOf('back', letBackMs + SECOND, letBackMs + 30 * SECOND);
  const later = account.shareOf('back', letBackMs + 40 * SECOND, 180 * SECOND);
  note('recovering', placement.name, {
    'let back after s': ((letBackMs - WELL) / SECOND).toFixed(1),
    'high score s later': (((highMs ?? NaN) - letBackMs) / SECOND).toFixed(1),
    'usual share': percent(usual),
    throttled: percent(throttled),
    after: percent(later),
  });
  expect(letBackMs - WELL).toBeLessThanOrEqual(31 * SECOND);
  expect((highMs ?? NaN) - letBackMs).toBeLessThanOrEqual(30 * SECOND);
  expect(throttled / usual).toBeLessThan(0.3);
  expect(throttled / usual).toBeGreaterThan(0.1);
  expect(later / usual).toBeGreaterThan(0.7);
});

test('thirty callers that fail over at once do not topple the backup', () => {
  const scenario = (): Scenario => ({
    agents: [dying('primary', { slots: 30, ms: 300, atMs: 5 * SECOND }), toppling('backup', { slots: 10 })],
    forMs: 60 * SECOND,
    load: { callers: 30 },
    timeoutMs: 5000,
  });
  const unbounded = random({ bounded: false });
  const toppled = simulate(scenario(), unbounded);
  const account = simulate(scenario(), new Placement('least_watermark', { strategy: 'least_watermark' }));
  for (const [name, { successRate, mostInFlight }] of [
    [unbounded.name, { successRate: toppled.successRate, mostInFlight: toppled.mostInFlight('backup') }],
    ['least_watermark', { successRate: account.successRate, mostInFlight: account.mostInFlight('backup') }],
  ] as const)
    note('30 callers fail over', name, { success: percent(successRate), 'most held': `${mostInFlight}` });
  expect(toppled.successRate).toBeLessThan(0.95);
  expect(account.mostInFlight('backup')).toBeLessThanOrEqual(10);
  expect(account.successRate).toBeGreaterThan(0.99);
});

test('poison tasks open the breaker of nobody', () => {
  const placement = new Placement('power_of_two');
  const scenario = { agents: good(6), forMs: 120 * SECOND, load: perSecond(80), poisonEvery: 50 };
  const account = simulate(scenario, placement);
  expect(account.successRate).toBeCloseTo(0.98, 3);
  expect(placement.opened.size).toBe(0);
});

test('where all fail, the least bad ones get work if the policy allows it', () => {
  const half = (id: string): SimAgent => ({
    ...steady(id),
    does: ({ rng }) => ({ ms: 50, ok: rng() < 0.4 }),
  });
  const scenario: Scenario = {
    agents: [half('a'), half('b')],
    forMs: 60 * SECOND,
    load: perSecond(10),
    deadlineMs: 10 * SECOND,
  };
  const rate = (panic: boolean) => {
    const account = simulate(scenario, new Placement('', { panic }));
    note('all fail', panic ? 'panic' : 'no panic', { success: percent(account.successRate) });
    return account.successRate;
  };
  expect(rate(true)).toBeGreaterThan(0.7);
  expect(rate(false)).toBeLessThan(0.4);
});

test('ten times more than can be done: what is done stays what could be done at the peak', () => {
  const fleet = () => good(5, { slots: 4, ms: 100 });
  const PEAK = 200;
  const scenario = (rate: number): Scenario => ({
    agents: fleet(),
    forMs: 30 * SECOND,
    load: perSecond(rate),
    deadlineMs: 5 * SECOND,
  });
  const bounded = () => new Placement('bounded lane', {}, { limit: 3 * PEAK });
  const atPeak = simulate(scenario(PEAK), bounded()).goodput(10 * SECOND, 30 * SECOND);
  const share = (contender: Contender) => {
    const account = simulate(scenario(10 * PEAK), contender);
    const goodput = account.goodput(10 * SECOND, 30 * SECOND);
    note('ten times overload', contender.name, {
      'goodput of peak': percent(goodput / atPeak),
      'offers per task': account.amplification.toFixed(2),
      refused: `${account.refusedCount}`,
    });
    return { goodput: goodput / atPeak, amplification: account.amplification };
  };
  for (const contender of [random(), leastLoaded()]) expect(share(contender).goodput).toBeLessThan(0.3);
  const ours = share(bounded());
  expect(ours.goodput).toBeGreaterThan(0.95);
  expect(ours.amplification).toBeLessThan(1.1);
});

test('a mixed fleet: slow, flapping, dying, black-hole, recovering and cold agents among good ones', () => {
  const scenario = (): Scenario => ({
    agents: [
      ...good(6),
      slow('slow'),
      flapping('flaps'),
      dying('dies'),
      blackHole('hole'),
      recovering('recovers'),
      cold('cold'),
    ],
    forMs: 120 * SECOND,
    load: perSecond(100),
  });
  const run = (contender: Contender) => {
    const account = simulate(scenario(), contender);
    note('mixed fleet', contender.name, {
      success: percent(account.successRate),
      'P95 ms': account.p95Ms.toFixed(0),
      'to bad': percent(account.toBad),
      'offers per task': account.amplification.toFixed(2),
    });
    return account;
  };
  const others = naive().map(run);
  const ours = run(new Placement('power_of_two'));
  expect(ours.successRate).toBeGreaterThan(0.999);
  for (const other of others) {
    expect(ours.successRate).toBeGreaterThan(other.successRate);
    expect(ours.p95Ms).toBeLessThan(other.p95Ms / 3);
    expect(ours.toBad).toBeLessThan(other.toBad / 5);
    expect(ours.amplification).toBeLessThan(1.05);
  }
  for (const strategy of ['best', 'weighted_random', 'weighted_round_robin', 'least_watermark'] as const)
    run(new Placement(strategy, { strategy }));
});
