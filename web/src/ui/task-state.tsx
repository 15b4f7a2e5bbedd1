import type { Delivery, Task } from '../api/client.js';
import { useText } from '../i18n/use-text.js';
import { Badge, type Tone } from './badge.js';

const SHAPES: Record<Task['state'] | Delivery['state'], { glyph: string; tone: Tone }> = {
  scheduled: { glyph: '◷', tone: 'quiet' },
  queued: { glyph: '≡', tone: 'quiet' },
  offered: { glyph: '→', tone: 'info' },
  running: { glyph: '▶', tone: 'info' },
  succeeded: { glyph: '✓', tone: 'good' },
  failed: { glyph: '✕', tone: 'bad' },
  canceled: { glyph: '⊘', tone: 'quiet' },
  expired: { glyph: '◔', tone: 'warn' },
  released: { glyph: '↩', tone: 'quiet' },
};

/** The state of a task or of a delivery: shape, word and colour. */
export function TaskState({ state }: { state: Task['state'] | Delivery['state'] }) {
  const t = useText();
  return <Badge {...SHAPES[state]}>{t(`task.${state}`)}</Badge>;
}
