import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describeWithRedisServer } from '../support/redis.js';

/*
 * The short torture run, as a user runs it, with seeds that are always the same. `npm run torture` takes any other, and
 * goes on for as long as one likes.
 */

const MAIN = join(import.meta.dirname, '../../dist/torture/main.js');
const WITHIN_MS = 600_000;

async function torture(seed: number, ...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [MAIN, '--seed', String(seed), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`seed ${seed}: exit code ${code}\n${said}`);
  console.log(said.slice(0, said.indexOf('| invariant')));
}

test(
  'embedded mode',
  () =>
    torture(
      1_997_738_390,
      '--mode',
      'embedded',
      '--minutes',
      '0.5',
      '--rate',
      '30',
      '--fault-every',
      '5000',
      '--groups',
      '2',
    ),
  WITHIN_MS,
);

describeWithRedisServer('distributed', () => {
  test(
    'seed 1',
    () =>
      torture(
        1,
        '--minutes',
        '0.7',
        '--rate',
        '30',
        '--fault-every',
        '4000',
        '--dispatchers',
        '2',
        '--groups',
        '3',
      ),
    WITHIN_MS,
  );
});
