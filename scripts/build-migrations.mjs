/** Compiles migrations/*.ts to dist/migrations, when there are any yet. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

if (existsSync('migrations') && readdirSync('migrations').some((file) => file.endsWith('.ts'))) {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.migrations.json'], {
    stdio: 'inherit',
  });
}
