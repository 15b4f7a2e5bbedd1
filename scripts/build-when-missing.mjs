/** Builds when nothing was built yet, so that `npm start` in a fresh clone starts instead of failing. */
import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (!existsSync('dist/main.js')) {
  console.error('Nothing is built yet; running "npm run build" first.');
  try {
    execSync('npm run build', { stdio: 'inherit' });
  } catch {
    // What failed was printed by the build itself.
    console.error('The build failed; after mending it, run "npm run build" and start again.');
    process.exitCode = 1;
  }
}
