import { Store } from './lib/store.js';

/* What a person set for this browser: language and theme. */

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const language = new Store<Language>(
  kept('reach.language', LANGUAGES) ?? (navigator.language.startsWith('zh') ? 'zh' : 'en'),
);
export const theme = new Store<Theme>(kept('reach.theme', THEMES) ?? 'system');

/** Applies the settings to the page, now and whenever they change, and keeps them. */
export function applySettings(): void {
  const root = document.documentElement;
  const apply = () => {
    root.lang = language.get() === 'zh' ? 'zh-CN' : 'en';
    root.dataset['theme'] = theme.get();
    localStorage.setItem('reach.language', language.get());
    localStorage.setItem('reach.theme', theme.get());
  };
  language.subscribe(apply);
  theme.subscribe(apply);
  apply();
}

/** The next of a list, around. */
export function next<T>(list: readonly T[], current: T): T {
  return list[(list.indexOf(current) + 1) % list.length] as T;
}

function kept<T extends string>(key: string, allowed: readonly T[]): T | undefined {
  const value = localStorage.getItem(key);
  return allowed.find((one) => one === value);
}
