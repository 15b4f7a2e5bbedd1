import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServerProcess } from './server-process.js';

/**
 * `describe` for suites that probe a packaged server. Without it on PATH they are skipped, except on CI, where
 * they fail: a check that silently does not run is none.
 */
export function describeWith(command: string, debianPackage: string): jest.Describe {
  if (spawnSync(command, ['--version']).status === 0) return describe;
  const message = `no ${command} on PATH (Debian: apt-get install ${debianPackage})`;
  if (process.env['CI']) throw new Error(message);
  console.warn(`skipped: ${message}`);
  return describe.skip;
}

/** The user and the password that every server here knows. */
export const USER = 'prober';
export const PASSWORD = 'right-secret';

/** A nats-server that wants a user, with TLS where a certificate is given. */
export function startNats(tls?: { key: string; cert: string }): Promise<ServerProcess> {
  return ServerProcess.start((directory, port) => {
    const lines = [
      `listen: "127.0.0.1:${port}"`,
      `authorization { user: ${USER}, password: "${PASSWORD}" }`,
      ...(tls ? [`tls { cert_file: "${directory}/c.pem", key_file: "${directory}/k.pem" }`] : []),
    ];
    if (tls) {
      writeFileSync(join(directory, 'c.pem'), tls.cert);
      writeFileSync(join(directory, 'k.pem'), tls.key);
    }
    writeFileSync(join(directory, 'nats.conf'), lines.join('\n'));
    return ['nats-server', '-c', join(directory, 'nats.conf')];
  }, 'Server is ready');
}

const SYSTEM_TABLES = '/usr/share/mysql';
const QUICK = [
  '--no-defaults',
  '--user=root',
  '--innodb-buffer-pool-size=8M',
  '--innodb-flush-method=nosync',
];

/** A MariaDB with the database `app`, with TLS where a certificate is given. */
export function startMariadb(tls?: { key: string; cert: string }): Promise<ServerProcess> {
  return ServerProcess.start((directory, port) => {
    const data = join(directory, 'data');
    mkdirSync(data);
    const table = (name: string) => readFileSync(join(SYSTEM_TABLES, name), 'utf8');
    // One statement a line is what the bootstrap reads.
    const input = [
      'create database mysql;',
      'use mysql;',
      table('mysql_system_tables.sql'),
      table('mysql_system_tables_data.sql'),
      'create database app;',
      'flush privileges;',
      `CREATE USER ${USER}@'%' IDENTIFIED BY '${PASSWORD}';`,
      `GRANT SELECT ON app.* TO ${USER}@'%';`,
      '',
    ].join('\n');
    const made = spawnSync('mariadbd', [...QUICK, '--bootstrap', `--datadir=${data}`], { input });
    if (made.status !== 0) throw new Error(`no MariaDB could be made: ${String(made.stderr ?? made.error)}`);
    if (tls) {
      writeFileSync(join(directory, 'c.pem'), tls.cert);
      writeFileSync(join(directory, 'k.pem'), tls.key);
    }
    return [
      'mariadbd',
      ...QUICK,
      `--datadir=${data}`,
      `--socket=${directory}/socket`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      ...(tls ? [`--ssl-cert=${directory}/c.pem`, `--ssl-key=${directory}/k.pem`] : []),
    ];
  }, 'ready for connections');
}
