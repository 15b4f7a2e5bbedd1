import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import pg from 'pg';

/** What the figures depend on: machine, versions, and the settings that decide how durable a commit is. */
export async function describeMachine(postgresUrl) {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  const setting = async (name) => (await client.query(`SHOW ${name}`)).rows[0][name];
  const names = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers'];
  const postgres = {};
  for (const name of names) postgres[name] = await setting(name);
  await client.end();
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
  return {
    at: new Date().toISOString(),
    commit: commit(),
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    bullmq: createRequire(import.meta.url)('bullmq/package.json').version,
    redis: `${/v=(\S+)/.exec(redis)?.[1]}, appendonly no, save ""`,
    postgres,
  };
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
