/*
 * Named places at which a test may have the process die as by `kill -9`, to see that nothing is lost there. They
 * are armed by REACH_FAILPOINTS ("name:n,...": at the n-th time), which is refused unless REACH_TEST_HOOKS is 1;
 * unarmed, each costs one comparison.
 */

/** Every place there is, in the order in which a task meets them. */
export const FAILPOINTS = [
  'admit_before_commit',
  'admit_after_commit',
  'fire_before_commit',
  'fire_after_commit',
  'order_after_add',
  'offer_before_commit',
  'offer_after_commit',
  'offer_after_send',
  'ack_after_commit',
  'result_before_commit',
  'result_after_commit',
  'close_before_commit',
  'close_after_commit',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

/** Variables of tests. They are no settings: a server of anybody's refuses to start with them. */
export const TEST_KEYS: ReadonlySet<string> = new Set(['REACH_TEST_HOOKS', 'REACH_FAILPOINTS']);

type Env = Readonly<Record<string, string | undefined>>;

/** What is wrong with the test variables, one text each. */
export function failpointProblems(env: Env): string[] {
  const text = env['REACH_FAILPOINTS'];
  if (text === undefined || text === '') return [];
  if (env['REACH_TEST_HOOKS'] !== '1')
    return ['REACH_FAILPOINTS makes the process die on purpose and is for tests only; remove it'];
  const bad = text.split(',').filter((item) => parse(item) === undefined);
  return bad.map((item) => `REACH_FAILPOINTS has ${item}, which is not name:n of ${FAILPOINTS.join(', ')}`);
}

/** How often each armed place is still passed before it kills; undefined: none is armed. */
const armed = arm(process.env);

/** Dies here, if the place is armed and this is the time. */
export function failpoint(name: Failpoint): void {
  if (armed === undefined) return;
  const left = armed.get(name);
  if (left === undefined) return;
  armed.set(name, left - 1);
  if (left <= 1) process.kill(process.pid, 'SIGKILL');
}

function arm(env: Env): Map<Failpoint, number> | undefined {
  const text = env['REACH_FAILPOINTS'];
  if (env['REACH_TEST_HOOKS'] !== '1' || text === undefined || text === '') return undefined;
  return new Map(text.split(',').flatMap((item) => parse(item) ?? []));
}

function parse(item: string): [[Failpoint, number]] | undefined {
  const [, name, times] = /^(\w+):([1-9]\d*)$/.exec(item) ?? [];
  const known = FAILPOINTS.find((f) => f === name);
  return known === undefined ? undefined : [[known, Number(times)]];
}
