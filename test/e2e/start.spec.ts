import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dispatcher } from '../support/dispatcher.js';

test('a start that waits for Postgres says so while it waits', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'reach-start-'));
  const dispatcher = new Dispatcher({
    REACH_DATA_DIR: dataDir,
    REACH_LOG_FORMAT: 'json',
    // The discard port: nobody listens there.
    DATABASE_URL: 'postgres://reach@127.0.0.1:9/reach',
  });
  dispatcher.start().catch(() => undefined);
  try {
    const line = await dispatcher.logged('waits', ({ msg }) => /does not answer yet/.test(msg ?? ''));
    expect(line).toMatchObject({ level: 'warn', reason: expect.stringContaining('ECONNREFUSED') });
  } finally {
    await dispatcher.kill9();
    await rm(dataDir, { recursive: true, force: true });
  }
});
