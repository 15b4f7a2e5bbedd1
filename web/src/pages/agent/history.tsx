import type { AgentTransition } from '../../api/client.js';
import { useText } from '../../i18n/use-text.js';
import { clock } from '../../lib/format.js';
import { JsonBlock } from '../../ui/json-block.js';
import { Section } from '../../ui/section.js';
import { StateBadge } from '../../ui/state-badge.js';
import { Badge } from '../../ui/badge.js';

/** The states it has been in, the newest first, each with what was observed. */
export function History({ history }: { history: readonly AgentTransition[] }) {
  const t = useText();
  return (
    <Section title={t('agent.history')}>
      {history.length === 0 && <p className="muted">{t('agent.history.none')}</p>}
      <ol className="cards tight">
        {history.map((one) => (
          <li key={`${one.at} ${one.kind} ${one.to_state}`}>
            <p className="card-head">
              <time dateTime={one.at}>{clock(one.at)}</time>
              {one.kind === 'transition' ? (
                <StateBadge state={one.to_state} />
              ) : (
                <Badge tone="quiet" glyph={one.kind === 'hold' ? '❚❚' : '▶'}>
                  {t(`agent.${one.kind}`)}
                </Badge>
              )}
              <span>{one.reason}</span>
            </p>
            {Object.keys(one.evidence).length > 0 && (
              <details>
                <summary>{t('task.evidence')}</summary>
                <JsonBlock label={t('task.evidence')} value={one.evidence} />
              </details>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}
