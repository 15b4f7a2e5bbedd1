/**
 * Builds web/ to dist/console. The last build is kept by the digest of what it was made from, so that only a changed
 * console costs the seconds of a build; `nest build` empties dist each time.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const OUT = 'dist/console';
const CACHE = 'node_modules/.cache/console';
/** What a browser loads before it shows anything, compressed. */
const SHELL_LIMIT_BYTES = 200_000;

const kept = join(CACHE, digestOf(['web', 'scripts/build-console.mjs', 'package-lock.json']));
if (!existsSync(kept)) {
  const { build } = await import('vite').catch((error) => {
    // The server says what to do where the console should be; its own build need not fail for it.
    console.error('The console is not built: packages are missing. Run npm ci, then npm run build.');
    if (process.env.CI) throw error;
    process.exit(0);
  });
  const fresh = `${kept}.${process.pid}`;
  await build({ configFile: 'web/vite.config.ts', build: { outDir: join('..', fresh) }, logLevel: 'error' });
  const bytes = shellBytes(fresh);
  if (bytes > SHELL_LIMIT_BYTES) {
    throw new Error(
      `The shell of the console is ${bytes} bytes of gzipped JavaScript, the limit is ${SHELL_LIMIT_BYTES}: ` +
        'load what one page alone needs with that page (lazy in web/src/app.tsx)',
    );
  }
  console.log(`console: ${Math.ceil(bytes / 1000)} of ${SHELL_LIMIT_BYTES / 1000} kB for the shell`);
  for (const old of readdirSync(CACHE)) {
    if (join(CACHE, old) !== fresh) rmSync(join(CACHE, old), { recursive: true, force: true });
  }
  renameSync(fresh, kept);
}
rmSync(OUT, { recursive: true, force: true });
cpSync(kept, OUT, { recursive: true });

/** JavaScript that the page itself names: the entry and all that it imports at once. */
function shellBytes(folder) {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, file]) => file);
  if (scripts.length === 0) throw new Error('the page of the console loads no script');
  return scripts.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);
}

function digestOf(paths) {
  const hash = createHash('sha256');
  const add = (path) => hash.update(path).update('\0').update(readFileSync(path)).update('\0');
  for (const path of paths) {
    if (path.includes('.')) add(path);
    else
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.includes('.spec.'))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
        .forEach(add);
  }
  return hash.digest('hex').slice(0, 20);
}
