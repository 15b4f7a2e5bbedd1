const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** `text` without what could steer a terminal: it may come from any caller or agent. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (c) => (c === '\n' || c === '\t' ? ' ' : '\u{fffd}'));
}

/** Who is to blame, and what and whom it was about; an agent that is to blame is named once. */
export function blameOf(of: { blame: string; dependency?: string; agent_id?: string }): string {
  const agent = of.agent_id === undefined ? '' : `agent ${of.agent_id}`;
  const parts =
    of.blame === 'agent' && agent !== '' ? [agent, of.dependency] : [of.blame, of.dependency, agent];
  return printable(parts.filter(Boolean).join(', '));
}

/** A JSON value on one line, at most `max` characters. */
export function brief(value: unknown, max = 60): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const chars = [...printable(text)];
  return chars.length <= max ? chars.join('') : `${chars.slice(0, max - 1).join('')}…`;
}

/** 950 ms, 12.3 s, 4 min, 3 h, 2 d. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** How long ago `at` was. */
export function ago(at: string, now: number = Date.now()): string {
  const ms = now - Date.parse(at);
  return ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`;
}

/** How an agent stands for a choice: success, latency and room. */
export function merits(of: {
  success_rate?: number;
  p95_ms?: number;
  in_flight: number;
  max_concurrency: number;
}): string {
  const rate =
    of.success_rate === undefined ? 'did nothing of late' : `${Math.round(of.success_rate * 100)}% good`;
  const p95 = of.p95_ms === undefined ? '' : `, P95 ${duration(of.p95_ms)}`;
  return `${rate}${p95}, ${of.in_flight} of ${of.max_concurrency} slots in use`;
}
