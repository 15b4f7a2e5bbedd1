import { Link } from 'react-router';
import type { Decision, Delivery } from '../../api/client.js';
import { useNamespace } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';
import { clock, duration, percent } from '../../lib/format.js';
import { agentPath } from '../../lib/paths.js';
import { ScoreParts } from '../../ui/score-parts.js';
import { Section, SmallTable } from '../../ui/section.js';
import { TaskState } from '../../ui/task-state.js';

/** Each delivery with its fence, and why its agent was chosen. */
export function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }) {
  const t = useText();
  const namespace = useNamespace();
  const head = [
    t('col.attempt'),
    t('col.fence'),
    t('col.agent'),
    t('col.state'),
    t('col.code'),
    t('col.offered'),
    t('col.acked'),
    t('col.took'),
    t('col.by'),
  ];
  return (
    <Section title={t('task.deliveries')}>
      {deliveries.length === 0 ? (
        <p className="muted">{t('task.noDeliveries')}</p>
      ) : (
        <SmallTable label={t('task.deliveries')} head={head}>
          {deliveries.map((d) => (
            <tr key={d.delivery_id}>
              <td>{d.attempt}</td>
              <td>{d.fence}</td>
              <td>
                <Link className="mono" to={agentPath(d.agent_id, namespace)}>
                  {d.agent_id}
                </Link>
              </td>
              <td>
                <TaskState state={d.state} />
              </td>
              <td className="mono">{d.code}</td>
              <td>{clock(d.offered_at)}</td>
              <td>{between(d.offered_at, d.acked_at)}</td>
              <td>{between(d.offered_at, d.finished_at)}</td>
              <td>{d.transport}</td>
            </tr>
          ))}
        </SmallTable>
      )}
      {deliveries.map(
        ({ decision, delivery_id, agent_id }) =>
          decision !== undefined && (
            <details key={delivery_id}>
              <summary>{t('task.decision', { agent: agent_id })}</summary>
              <DecisionView decision={decision} />
            </details>
          ),
      )}
    </Section>
  );
}

function between(from: string, to: string | undefined): string {
  return to === undefined ? '' : duration(Date.parse(to) - Date.parse(from));
}

function DecisionView({ decision }: { decision: Decision }) {
  const t = useText();
  const by = decision.strategy === undefined ? decision.by : `${decision.by} ${decision.strategy}`;
  const head = [
    t('col.agent'),
    t('decision.score'),
    t('decision.parts'),
    t('decision.success'),
    t('decision.p95'),
    t('decision.busy'),
  ];
  return (
    <div className="decision">
      <p>{t('decision.by', { by, eligible: decision.eligible })}</p>
      {decision.panic === true && <p className="note warn">{t('decision.panic')}</p>}
      <SmallTable label={t('decision.compared')} head={head}>
        {decision.compared.map((c) => (
          <tr key={c.agent_id}>
            <td className="mono">
              {c.agent_id} {c.chosen && <strong>✓ {t('decision.chosen')}</strong>}
            </td>
            <td>{c.score?.toFixed(3)}</td>
            <td>
              <ScoreParts parts={c.parts} />
            </td>
            <td>{c.success_rate === undefined ? '' : percent(c.success_rate)}</td>
            <td>{c.p95_ms === undefined ? '' : duration(c.p95_ms)}</td>
            <td>
              {c.in_flight}/{c.max_concurrency}
            </td>
          </tr>
        ))}
      </SmallTable>
      <Rejected rejected={decision.rejected} />
    </div>
  );
}

function Rejected({ rejected }: { rejected: Decision['rejected'] }) {
  const t = useText();
  const counts = Object.entries(rejected.counts);
  if (counts.length === 0) return null;
  return (
    <>
      <h3>
        {t('decision.rejected')}: {counts.map(([filter, n]) => `${n} × ${filter}`).join(', ')}
      </h3>
      <ul className="plain-list">
        {rejected.named.map(({ agent_id, reason }) => (
          <li key={agent_id}>
            <span className="mono">{agent_id}</span>: {reason}
          </li>
        ))}
      </ul>
    </>
  );
}
