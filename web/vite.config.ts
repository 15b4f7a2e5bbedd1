import { defineConfig } from 'vite';

/** `npx vite web` serves the console for work on it; the API comes from a server on the usual port. */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    emptyOutDir: true,
    // A source map would be larger than the console; the build is reproducible.
    sourcemap: false,
    // Small files as data: URLs would need a looser policy for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/readyz': 'http://127.0.0.1:8080' } },
});
