import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** What the built logger writes about an error; pino writes to the descriptor itself, past any spy. */
function written(logFormat: string): string {
  const program = `
    const { createLogger } = await import('./dist/platform/telemetry/logger.js');
    const log = await createLogger({ logLevel: 'info', logFormat: '${logFormat}', replicaId: 'r' });
    const command = { name: 'auth', args: ['pa55word'] };
    log.warn({ msg: 'redis connection', err: Object.assign(new Error('WRONGPASS invalid'), { command }) });
    log.warn(Object.assign(new Error('WRONGPASS invalid'), { command }));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
  });
}

test.each(['json', 'pretty'])('the password of a refused AUTH is not in the log: %s', (logFormat) => {
  const text = written(logFormat);
  expect(text.match(/auth/g)).toHaveLength(2);
  expect(text).not.toContain('pa55word');
});
