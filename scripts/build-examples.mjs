/** Compiles examples/ to dist/examples, with the files that the agents read beside them. */
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.examples.json'], {
  stdio: 'inherit',
});
cpSync('examples', 'dist/examples', { recursive: true, filter: (source) => !source.endsWith('.ts') });
