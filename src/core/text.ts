/* Text from agents is kept even where Postgres could not store it as it is. */

const REPLACEMENT = '\uFFFD';
const NUL = /\u0000/g;

/** `text` with NUL and lone surrogates replaced by U+FFFD: what Postgres refuses becomes visible, not an error. */
export function storableText(text: string): string {
  return text.replace(NUL, REPLACEMENT).toWellFormed();
}

/** `text` on one line, fit to be stored and shown: other control characters than white space become U+FFFD. */
export function plainText(text: string): string {
  return text
    .replace(/[\t\n\v\f\r]+/g, ' ')
    .replace(/\p{Cc}/gu, REPLACEMENT)
    .toWellFormed();
}

/** A copy of plain data with `plainText` done to every string in it; names of properties stay. */
export function plainTexts<T>(value: T): T {
  if (typeof value === 'string') return plainText(value) as T;
  if (Array.isArray(value)) return value.map(plainTexts) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, plainTexts<unknown>(v)])) as T;
}

/** At most `max` UTF-16 units, never cutting a character in half; `…` shows that something was cut. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = max - 1;
  const unit = text.charCodeAt(end - 1);
  if (unit >= 0xd800 && unit <= 0xdbff) end -= 1;
  return text.slice(0, end) + '…';
}

/** JSON text of `value` in which every string and key is storable (see `storableText`). */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  // JSON.stringify escapes both NUL and lone surrogates, so the escapes are all there is to look for.
  if (!text.includes('\\u')) return text;
  return JSON.stringify(value, (_key, v: unknown) =>
    typeof v === 'string' ? storableText(v) : storableKeys(v),
  );
}

function storableKeys(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (entries.every(([key]) => storableText(key) === key)) return value;
  return Object.fromEntries(entries.map(([key, v]) => [storableText(key), v]));
}
