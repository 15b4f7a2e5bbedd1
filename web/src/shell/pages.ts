import type { MessageKey } from '../i18n/en.js';

/** The pages that the navigation and the palette offer. */
export const PAGES: readonly { path: string; key: MessageKey; glyph: string }[] = [
  { path: '/', key: 'nav.fleet', glyph: '◉' },
  { path: '/tasks', key: 'nav.tasks', glyph: '≡' },
  { path: '/why', key: 'nav.why', glyph: '✕' },
  { path: '/route', key: 'nav.route', glyph: '→' },
  { path: '/events', key: 'nav.events', glyph: '∿' },
  { path: '/capabilities', key: 'nav.capabilities', glyph: '◆' },
  { path: '/topology', key: 'nav.topology', glyph: '⌬' },
  { path: '/system', key: 'nav.system', glyph: '⚙' },
];
