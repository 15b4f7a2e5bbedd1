/** Whether colours are wanted: a terminal, and neither NO_COLOR (no-color.org) nor a dumb one. */
export function wantsColor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true;
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Color = keyof typeof CODES;

/** Paints text, or leaves it as it is. */
export type Paint = (color: Color, text: string) => string;

export function painter(enabled: boolean): Paint {
  return (color, text) => (enabled ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text);
}

const STATE_COLORS: Record<string, Color> = {
  succeeded: 'green',
  online: 'green',
  running: 'cyan',
  offered: 'cyan',
  queued: 'blue',
  scheduled: 'blue',
  degraded: 'yellow',
  suspicious: 'yellow',
  removing: 'yellow',
  canceled: 'yellow',
  failed: 'red',
  expired: 'red',
  offline: 'red',
};

/** The state of a task or an agent in its colour. */
export function paintState(paint: Paint, state: string): string {
  const color = STATE_COLORS[state];
  return color ? paint(color, state) : state;
}
