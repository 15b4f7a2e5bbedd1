import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The demo checks its promises by itself and fails when one is broken. */
it('keeps all promises although it breaks its own agents and services', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'demo-spec-'));
  const run = await new Promise<{ code: number; out: string }>((resolve) => {
    execFile(
      process.execPath,
      ['dist/cli/main.js', 'demo'],
      { env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: '' }, timeout: 110_000 },
      (error, out, err) => resolve({ code: error ? Number(error.code ?? 99) : 0, out: out + err }),
    );
  });
  // The whole output when it fails.
  expect(run.code === 0 ? '' : run.out).toBe('');
  expect(run.out).toContain('REACH_AGENT_LOST -> summarizer-2 succeeded');
  const found = (state: string) => run.out.indexOf(`prober     fetcher-1 is ${state}`);
  expect(run.out.slice(found('degraded'))).toMatch(
    /^prober +fetcher-1 is degraded: critical dependency document-service \(\w+\) is down\n/,
  );
  expect(found('online')).toBeGreaterThan(found('degraded'));
  expect(readdirSync(temporary)).toEqual([]);
  rmSync(temporary, { recursive: true });
}, 120_000);
