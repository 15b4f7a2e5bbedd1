import { Store } from '../lib/store.js';

/* The bearer token of this tab. It is kept until the tab is closed, and never goes into an address. */

const KEY = 'reach.token';

let token = sessionStorage.getItem(KEY) ?? '';

/** `ok` until a call was refused; then the console asks for a token, and says so when one was wrong. */
export const access = new Store<'ok' | 'needed' | 'wrong'>('ok');

/** The header that calls are sent with. */
export function authorization(): Record<string, string> {
  return token === '' ? {} : { authorization: `Bearer ${token}` };
}

/** Whether calls are sent with a token. */
export function hasToken(): boolean {
  return token !== '';
}

/** Notes that the server refused what was sent. */
export function refused(sent: string | null): void {
  // An answer to a call from before the token was changed says nothing about the new one.
  if (sent !== (authorization()['authorization'] ?? null)) return;
  access.set(token === '' ? 'needed' : 'wrong');
}

/** Takes a token that a person typed, to be tried by the next call. */
export function giveToken(next: string): void {
  token = next.trim();
  if (token === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
  access.set('ok');
}
