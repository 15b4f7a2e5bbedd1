import { Store, useStore } from './store.js';

const now = new Store(Date.now());
setInterval(() => {
  if (!document.hidden) now.set(Date.now());
}, 1000);

/** The time, a second at a time, the same for everything on the page. */
export function useNow(): number {
  return useStore(now);
}
