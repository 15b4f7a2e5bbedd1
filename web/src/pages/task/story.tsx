import type { Explanation } from '../../api/client.js';
import { useText } from '../../i18n/use-text.js';
import { clock, duration } from '../../lib/format.js';
import { Section } from '../../ui/section.js';

type Entry = Explanation['story'][number];

const GLYPHS: Readonly<Record<string, string>> = {
  accepted: '＋',
  scheduled: '◷',
  offered: '→',
  acknowledged: '▶',
  progress: '…',
  closed: '■',
  attribution: '✕',
  agent_state: '▲',
  ended: '●',
  waiting: '≡',
};
const BAD = new Set(['attribution', 'agent_state']);

/** What happened, in order, each with the time since the one before. */
export function Story({ entries }: { entries: readonly Entry[] }) {
  const t = useText();
  return (
    <Section title={t('task.story')}>
      <ol className="story">
        {entries.map((entry, i) => {
          const before = entries[i - 1];
          const gap = before === undefined ? 0 : Date.parse(entry.at) - Date.parse(before.at);
          return (
            <li key={entry.position} className={BAD.has(entry.kind) ? 'story-bad' : ''}>
              <span className="story-glyph" aria-hidden="true">
                {GLYPHS[entry.kind] ?? '·'}
              </span>
              <time dateTime={entry.at}>{clock(entry.at)}</time>
              <span className="muted story-gap">{gap > 0 ? `+${duration(gap)}` : ''}</span>
              <span className="story-text">{entry.text}</span>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}
