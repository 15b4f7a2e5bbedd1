/*
 * Builds the package twice: ES modules with types by tsc, and one CommonJS file by esbuild. The types of both
 * are the same files; which module system they describe is told by the nearest package.json.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const dist = join(here, 'dist');
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', join(here, 'tsconfig.build.json')], { stdio: 'inherit' });
await build({
  entryPoints: [join(here, 'src', 'index.ts')],
  outfile: join(dist, 'cjs', 'index.cjs'),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});
cpSync(join(dist, 'esm'), join(dist, 'cjs'), {
  recursive: true,
  filter: (source) => !/\.js$/.test(source),
});
mkdirSync(join(dist, 'cjs'), { recursive: true });
writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
