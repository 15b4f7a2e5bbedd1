import type { AgentDetail } from '../../api/client.js';
import { useText } from '../../i18n/use-text.js';
import { duration, percent, since } from '../../lib/format.js';
import { useNow } from '../../lib/now.js';
import { Section, SmallTable } from '../../ui/section.js';

/** How its work and its probes went in the last ten minutes. */
export function Windows({ agent }: { agent: AgentDetail }) {
  const t = useText();
  const nowMs = useNow();
  const rows = (['work', 'probes'] as const).flatMap((kind) => {
    const seen = agent.windows[kind];
    return seen === undefined ? [] : [{ kind, seen }];
  });
  const head = [
    '',
    t('agent.score'),
    t('decision.success'),
    'P50',
    'P95',
    t('agent.samples'),
    t('agent.failures'),
    t('agent.lastActivity'),
  ];
  return (
    <Section title={t('agent.windows')}>
      {rows.length === 0 ? (
        <p className="muted">{t('agent.window.none')}</p>
      ) : (
        <SmallTable label={t('agent.windows')} head={head}>
          {rows.map(({ kind, seen }) => (
            <tr key={kind}>
              <th scope="row">{t(`agent.window.${kind}`)}</th>
              <td>{seen.score.toFixed(3)}</td>
              <td>{percent(seen.success_rate)}</td>
              <td>{seen.p50_ms === undefined ? '' : duration(seen.p50_ms)}</td>
              <td>{seen.p95_ms === undefined ? '' : duration(seen.p95_ms)}</td>
              <td>{seen.samples}</td>
              <td>{seen.consecutive_failures}</td>
              <td>{t('ago', { time: since(seen.last_activity_at, nowMs) })}</td>
            </tr>
          ))}
        </SmallTable>
      )}
    </Section>
  );
}
