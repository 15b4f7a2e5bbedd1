import type { AgentDetail } from '../../api/client.js';
import { useStanding } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';
import { Badge } from '../../ui/badge.js';
import { QueryView } from '../../ui/query-view.js';
import { Section, SmallTable } from '../../ui/section.js';

/** For each of its capabilities whether it would get work now, or what keeps it from it: breaker, warm-up, hold. */
export function Standing({ agent }: { agent: AgentDetail }) {
  const t = useText();
  const query = useStanding(
    agent.agent_id,
    agent.capabilities.map((capability) => capability.name),
  );
  const head = [t('col.capability'), t('agent.eligible'), t('agent.score'), t('agent.reason')];
  return (
    <Section title={t('agent.eligible')}>
      <QueryView query={query}>
        {(answers) => (
          <SmallTable label={t('agent.eligible')} head={head}>
            {answers.map(({ capability, candidate, paused }) => (
              <tr key={capability}>
                <td>{capability}</td>
                <td>
                  {paused !== undefined ? (
                    <Badge tone="warn" glyph="❚❚">
                      {t('agent.eligible.paused')}
                    </Badge>
                  ) : candidate === undefined || candidate.verdict === 'rejected' ? (
                    <Badge tone="bad" glyph="✕">
                      {t('agent.eligible.no', { filter: candidate?.filter ?? '' })}
                    </Badge>
                  ) : candidate.throttled === true ? (
                    <Badge tone="warn" glyph="◐">
                      {t('agent.eligible.throttled')}
                    </Badge>
                  ) : (
                    <Badge tone="good" glyph="●">
                      {t('agent.eligible.yes')}
                    </Badge>
                  )}
                </td>
                <td>{candidate?.score?.toFixed(3)}</td>
                <td className="wrap">{candidate?.reason ?? paused}</td>
              </tr>
            ))}
          </SmallTable>
        )}
      </QueryView>
    </Section>
  );
}
