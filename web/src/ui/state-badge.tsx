import type { Agent, ListedAgent } from '../api/client.js';
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

/** What keeps an agent from its usual work, whatever its state: a hold, its breaker, its warm-up. */
function Limits({ agent }: { agent: ListedAgent }) {
  const t = useText();
  const { held, breaker, facts } = agent;
  const warmUp = facts?.warm_up;
  return (
    <>
      {held !== undefined && (
        <span className="badge quiet">
          <span aria-hidden="true">❚❚</span> {t('state.held')}
        </span>
      )}
      {breaker !== undefined && (
        <span className="badge warn" title={breaker.cause}>
          <span aria-hidden="true">⚡</span> {t(`breaker.${breaker.phase}`)}
        </span>
      )}
      {warmUp?.passed === false && agent.state !== 'offline' && (
        <span className="badge quiet">
          <span aria-hidden="true">◔</span> {t('state.warming', { good: warmUp.good, needed: warmUp.needed })}
        </span>
      )}
    </>
  );
}

/** The state of an agent: shape, word and colour. */
export function StateBadge({ state, agent }: { state: Agent['state']; agent?: ListedAgent }) {
  const t = useText();
  const { glyph, tone } = SHAPES[state];
  return (
    <span className="badges">
      <span className={`badge ${tone}`} data-state={state}>
        <span aria-hidden="true">{glyph}</span> {t(`state.${state}`)}
      </span>
      {agent !== undefined && <Limits agent={agent} />}
    </span>
  );
}
