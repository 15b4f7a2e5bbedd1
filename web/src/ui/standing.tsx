import { useText } from '../i18n/use-text.js';
import { Badge, type Tone } from './badge.js';

export type ProbeStanding = 'unknown' | 'good' | 'suspect' | 'bad';

const SHAPES: Record<ProbeStanding, { glyph: string; tone: Tone }> = {
  unknown: { glyph: '○', tone: 'quiet' },
  good: { glyph: '●', tone: 'good' },
  suspect: { glyph: '▲', tone: 'warn' },
  bad: { glyph: '✕', tone: 'bad' },
};

/** What probes say of something. */
export function StandingBadge({ standing }: { standing: ProbeStanding }) {
  const t = useText();
  return <Badge {...SHAPES[standing]}>{t(`agent.standing.${standing}`)}</Badge>;
}
