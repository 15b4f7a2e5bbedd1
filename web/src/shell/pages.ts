import type { MessageKey } from '../i18n/en.js';

/** The pages that the navigation and the palette offer. */
export const PAGES: readonly { path: string; key: MessageKey; glyph: string }[] = [
  { path: '/', key: 'nav.fleet', glyph: '◉' },
];
