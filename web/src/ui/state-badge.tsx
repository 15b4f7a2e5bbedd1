import type { Agent } from '../api/client.js';
import { useText } from '../i18n/use-text.js';

/** A shape of its own for each state, so that colour is never the only sign. */
const SHAPES: Record<Agent['state'], { glyph: string; tone: string }> = {
  online: { glyph: '●', tone: 'good' },
  degraded: { glyph: '◐', tone: 'warn' },
  suspicious: { glyph: '▲', tone: 'warn' },
  offline: { glyph: '✕', tone: 'bad' },
  removing: { glyph: '○', tone: 'quiet' },
};

/** Whether a text is a state that an agent can be in. */
export function isAgentState(text: string | null | undefined): text is Agent['state'] {
  return text !== null && text !== undefined && Object.hasOwn(SHAPES, text);
}

/** The state of an agent: shape, word and colour. */
export function StateBadge({ state, held = false }: { state: Agent['state']; held?: boolean }) {
  const t = useText();
  const { glyph, tone } = SHAPES[state];
  return (
    <span className="badges">
      <span className={`badge ${tone}`} data-state={state}>
        <span aria-hidden="true">{glyph}</span> {t(`state.${state}`)}
      </span>
      {held && (
        <span className="badge quiet">
          <span aria-hidden="true">❚❚</span> {t('state.held')}
        </span>
      )}
    </span>
  );
}
