import { useCallback } from 'react';
import { useStore } from '../lib/store.js';
import { language } from '../settings.js';
import { en, type MessageKey } from './en.js';
import { zh } from './zh.js';

const DICTIONARIES = { en, zh };

export type Translate = (key: MessageKey, values?: Readonly<Record<string, string | number>>) => string;

/** Texts in the language that is set. `{name}` in a text is replaced by the value of that name. */
export function useText(): Translate {
  const current = useStore(language);
  return useCallback(
    (key, values = {}) =>
      DICTIONARIES[current][key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')),
    [current],
  );
}
