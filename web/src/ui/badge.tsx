import type { ReactNode } from 'react';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'info';

/** A short word with a shape and a colour of its own. */
export function Badge({ tone, glyph, children }: { tone: Tone; glyph: string; children: ReactNode }) {
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{glyph}</span> {children}
    </span>
  );
}
