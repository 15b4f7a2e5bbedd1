import type { ProbeBudget } from '../api/client.js';
import { type Readiness, useProbeBudget, useReadiness, useVersion } from '../api/queries.js';
import { useText } from '../i18n/use-text.js';
import { duration } from '../lib/format.js';
import { Badge } from '../ui/badge.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { GuardedFile } from '../ui/guarded-file.js';
import { Page } from '../ui/page.js';
import { QueryView } from '../ui/query-view.js';
import { Facts, Section, SmallTable } from '../ui/section.js';

/** Whether the server can work, what it probes, and its version. */
export default function System() {
  const t = useText();
  const readiness = useReadiness();
  const budget = useProbeBudget();
  const version = useVersion();
  return (
    <Page title={t('system.title')} aside={<CopyCurl path="/readyz" />}>
      <div className="columns">
        <div className="column">
          <Section title={t('system.checks')}>
            <QueryView query={readiness}>{(report) => <Checks report={report} />}</QueryView>
          </Section>
          <Section title={t('system.version')}>
            <Facts
              facts={[
                { name: t('system.server'), value: version.data },
                { name: t('system.replica'), value: budget.data?.this_replica.replica_id },
                { name: t('system.api'), value: <GuardedFile path="/api/openapi.json" open="/api/docs" /> },
                { name: t('system.metrics'), value: <GuardedFile path="/metrics" /> },
              ]}
            />
          </Section>
        </div>
        <QueryView query={budget}>{(seen) => <Budget budget={seen} />}</QueryView>
      </div>
    </Page>
  );
}

function Checks({ report }: { report: Readiness }) {
  const t = useText();
  return (
    <>
      <p>
        {report.ready ? (
          <Badge tone="good" glyph="●">
            {t('system.ready')}
          </Badge>
        ) : (
          <Badge tone="bad" glyph="✕">
            {t('system.notReady')}
          </Badge>
        )}
      </p>
      <SmallTable label={t('system.checks')} head={[t('system.check'), t('col.state'), t('fleet.reason')]}>
        {Object.entries(report.checks).map(([name, text]) => (
          <tr key={name}>
            <td>{name}</td>
            <td>
              {text === 'ok' ? (
                <Badge tone="good" glyph="●">
                  {t('system.ok')}
                </Badge>
              ) : (
                <Badge tone="bad" glyph="✕">
                  {t('system.failed')}
                </Badge>
              )}
            </td>
            <td className="wrap">{text === 'ok' ? '' : text}</td>
          </tr>
        ))}
      </SmallTable>
    </>
  );
}

function Budget({ budget }: { budget: ProbeBudget }) {
  const t = useText();
  const { this_replica: own } = budget;
  return (
    <Section title={t('system.probes')}>
      {own.doubt !== undefined && (
        <p className="note warn">
          <span aria-hidden="true">▲</span> {t('system.doubt', { why: own.doubt })}
        </p>
      )}
      <Facts
        facts={[
          { name: t('system.agents'), value: budget.agents },
          { name: t('system.dependencies'), value: budget.declared_dependencies },
          { name: t('system.targets'), value: budget.distinct_targets },
          { name: t('system.perSecond'), value: budget.per_second.toFixed(2) },
          { name: t('system.unshared'), value: budget.unshared_per_second.toFixed(2) },
          { name: t('system.inFlight'), value: own.in_flight },
          { name: t('system.stretch'), value: own.stretch.toFixed(2) },
        ]}
      />
      <SmallTable
        label={t('system.rates')}
        head={[t('system.kind'), t('system.targets'), t('system.every'), t('system.perSecond')]}
      >
        {budget.rates.map((rate) => (
          <tr key={`${rate.kind} ${rate.interval_ms}`}>
            <td>{rate.kind}</td>
            <td>{rate.targets}</td>
            <td>{duration(rate.interval_ms)}</td>
            <td>{rate.per_second.toFixed(2)}</td>
          </tr>
        ))}
      </SmallTable>
      <SmallTable
        label={t('system.replicas')}
        head={[t('system.replica'), t('route.zone'), t('system.targets')]}
      >
        {budget.replicas.map((replica) => (
          <tr key={replica.replica_id}>
            <td className="mono">{replica.replica_id}</td>
            <td>{replica.zone}</td>
            <td>{replica.targets}</td>
          </tr>
        ))}
      </SmallTable>
      <details>
        <summary>{t('system.arithmetic')}</summary>
        <ul className="plain-list">
          {budget.arithmetic.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </details>
    </Section>
  );
}
