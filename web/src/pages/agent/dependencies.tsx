import { Link } from 'react-router';
import type { AgentDetail } from '../../api/client.js';
import { useNamespace } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';
import { pathOf } from '../../lib/paths.js';
import { Section, SmallTable } from '../../ui/section.js';
import { StandingBadge } from '../../ui/standing.js';

/** What the agent needs, and what probes say of it. */
export function Dependencies({ agent }: { agent: AgentDetail }) {
  const t = useText();
  const namespace = useNamespace();
  const head = [t('col.dependency'), t('col.type'), t('col.state'), 'ms', t('col.message')];
  return (
    <Section title={t('agent.dependencies')}>
      {agent.facts.dependencies.length === 0 ? (
        <p className="muted">{t('agent.dependencies.none')}</p>
      ) : (
        <SmallTable label={t('agent.dependencies')} head={head}>
          {agent.facts.dependencies.map((one) => (
            <tr key={one.name}>
              <td>
                <Link to={pathOf('/why', namespace, { dependency: one.name })}>{one.name}</Link>
              </td>
              <td className="muted">
                {one.type}, {t(one.critical ? 'agent.critical' : 'agent.optional')}
              </td>
              <td>
                <StandingBadge standing={one.standing} />
              </td>
              <td>{one.latency_ms === undefined ? '' : Math.round(one.latency_ms)}</td>
              <td className="wrap">{one.detail ?? one.fault}</td>
            </tr>
          ))}
        </SmallTable>
      )}
    </Section>
  );
}
