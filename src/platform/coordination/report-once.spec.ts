import { reportOnce } from './report-once.js';

test('says the same thing once in a while, and other things at once', () => {
  let nowMs = 0;
  const said: string[] = [];
  const report = reportOnce(
    (message, error) => said.push(`${message}: ${(error as Error).message}`),
    1_000,
    () => nowMs,
  );
  report('redis', new Error('refused'));
  report('redis', new Error('refused'));
  report('redis', new Error('closed'));
  nowMs = 999;
  report('redis', new Error('refused'));
  nowMs = 1_000;
  report('redis', new Error('refused'));
  expect(said).toEqual(['redis: refused', 'redis: closed', 'redis: refused']);
});
