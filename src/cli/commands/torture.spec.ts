import { createProgram } from '../program.js';

const torture = (...args: string[]) => createProgram().parseAsync(['torture', ...args], { from: 'user' });

test('what is wrong with the call is told before anything is started', async () => {
  await expect(torture('--mode', 'both')).rejects.toThrow('--mode both: it is "embedded" or "distributed"');
  if (process.platform === 'linux')
    await expect(torture('--minutes', 'long')).rejects.toThrow('--minutes long is not a number');
});

test('what is missing is told by name', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    await expect(torture('--mode', 'distributed')).rejects.toThrow(
      process.platform === 'linux' ? 'redis-server and redis-cli cannot be run' : 'Linux only',
    );
  } finally {
    process.env['PATH'] = path;
  }
});
