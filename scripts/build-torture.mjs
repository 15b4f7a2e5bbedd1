/** Compiles test/torture to dist/torture, a program that needs nothing of the tests but itself. */
import { build } from 'esbuild';

await build({
  entryPoints: [
    ...['main', 'roles/agents', 'roles/load'].map((name) => `test/torture/${name}.ts`),
    'test/support/wrong-clock.mjs',
    'test/support/block-loop.mjs',
  ],
  outdir: 'dist/torture',
  entryNames: '[name]',
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
});
