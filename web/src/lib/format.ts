/* Figures as people read them. Pure: the time is an argument. */

/** `840 ms`, `12.4 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '-';
  const abs = Math.abs(ms);
  const sign = ms < 0 ? '-' : '';
  if (abs < 999.5) return `${sign}${Math.round(abs)} ms`;
  if (abs < 59_950) return `${sign}${(abs / 1000).toFixed(1)} s`;
  const [large, small] = (
    [
      [86_400, 'd', 3600, 'h'],
      [3600, 'h', 60, 'min'],
      [60, 'min', 1, 's'],
    ] as const
  ).flatMap(([unit, name, part, partName]) => {
    const seconds = Math.round(abs / 1000);
    if (seconds < unit) return [];
    const rest = Math.floor((seconds % unit) / part);
    return [`${Math.floor(seconds / unit)} ${name}`, rest === 0 ? '' : ` ${rest} ${partName}`];
  });
  return `${sign}${large}${small}`;
}

/** How long ago a time was, at `nowMs`; a time that is ahead by a clock's difference counts as now. */
export function since(timestamp: string, nowMs: number): string {
  return duration(Math.max(0, nowMs - Date.parse(timestamp)));
}

/** `12:03:11.204`, by the clock of the browser. */
export function clock(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return '-';
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** `92.3 %` of a share between 0 and 1. */
export function percent(share: number): string {
  const digits = share === 0 || share === 1 ? 0 : 1;
  return `${(share * 100).toFixed(digits)} %`;
}

/** The end of an id, enough to tell it apart in a list; ids of one moment begin alike. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `…${id.slice(-12)}`;
}

/** Bytes that are shown of a payload. */
const PREVIEW_LIMIT = 4096;

/** JSON with line breaks, cut at 4 KiB; `bytes` is the whole size as compact JSON. */
export function preview(value: unknown): { text: string; bytes: number; cut: boolean } {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(JSON.stringify(value) ?? '').length;
  const whole = JSON.stringify(value, null, 2) ?? '';
  const encoded = encoder.encode(whole);
  if (encoded.length <= PREVIEW_LIMIT) return { text: whole, bytes, cut: false };
  // A character that the cut goes through is left out, not shown broken.
  const text = new TextDecoder().decode(encoded.subarray(0, PREVIEW_LIMIT), { stream: true });
  return { text, bytes, cut: true };
}

/** A size in bytes: `812 B`, `4.0 KiB`, `1.2 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
