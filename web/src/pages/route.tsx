import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { answerOf, api, type SimulateAnswer, within } from '../api/client.js';
import { useNamespace } from '../api/queries.js';
import type { MessageKey } from '../i18n/en.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { duration, percent } from '../lib/format.js';
import { agentPath } from '../lib/paths.js';
import { Badge, type Tone } from '../ui/badge.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { useFilters } from '../ui/filter-field.js';
import { Page } from '../ui/page.js';
import { Empty, QueryView } from '../ui/query-view.js';
import { ScoreParts } from '../ui/score-parts.js';
import { type Column, Table } from '../ui/table.js';

const FIELDS = ['capability', 'agent', 'version', 'tags', 'zone', 'exclude', 'affinity'] as const;
type Field = (typeof FIELDS)[number];
type Wanted = Partial<Record<Field, string>>;

/** Who would get a task now: every candidate, with the filter that passed it over or the parts of its score. */
export default function Route() {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const wanted: Wanted = Object.fromEntries(
    FIELDS.filter((f) => filters.get(f) !== '').map((f) => [f, filters.get(f)]),
  );
  const body = requestOf(namespace, wanted);
  const asked = wanted.capability !== undefined || wanted.agent !== undefined;
  const query = useQuery({
    queryKey: ['route', body],
    queryFn: ({ signal }) => answerOf(api.POST('/api/v1/route/simulate', { body, signal: within(signal) })),
    enabled: asked,
    refetchInterval: 3000,
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t('route.title')}
      aside={asked && <CopyCurl method="POST" path="/api/v1/route/simulate" body={body} />}
    >
      <p className="muted">{t('route.help')}</p>
      <Form key={JSON.stringify(wanted)} wanted={wanted} />
      {asked ? (
        <QueryView query={query}>{(answer) => <Answer answer={answer} />}</QueryView>
      ) : (
        <Empty title={t('route.empty.title')} help={t('route.empty.help')} />
      )}
    </Page>
  );
}

function requestOf(namespace: string, wanted: Wanted) {
  const list = (text: string) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const constraints = {
    ...(wanted.version !== undefined && { version: wanted.version }),
    ...(wanted.tags !== undefined && { tags: list(wanted.tags) }),
    ...(wanted.zone !== undefined && { zone: wanted.zone }),
    ...(wanted.exclude !== undefined && { exclude: list(wanted.exclude) }),
  };
  return {
    namespace,
    ...(wanted.capability !== undefined && { capability: wanted.capability }),
    ...(wanted.agent !== undefined && { agent_id: wanted.agent }),
    ...(wanted.affinity !== undefined && { affinity_key: wanted.affinity }),
    ...(Object.keys(constraints).length > 0 && { constraints }),
  };
}

/** The address takes what is typed only when it is sent, so that half a name asks nothing. */
function Form({ wanted }: { wanted: Wanted }) {
  const t = useText();
  const filters = useFilters();
  const [typed, setTyped] = useState<Wanted>(wanted);
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        filters.replace(typed);
      }}
    >
      {FIELDS.map((field) => (
        <span className="field" key={field}>
          <label htmlFor={`route-${field}`}>{t(`route.${field}`)}</label>
          <input
            id={`route-${field}`}
            value={typed[field] ?? ''}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setTyped({ ...typed, [field]: event.target.value })}
          />
        </span>
      ))}
      <button type="submit" className="primary">
        {t('route.run')}
      </button>
    </form>
  );
}

function Answer({ answer }: { answer: SimulateAnswer }) {
  const t = useText();
  const namespace = useNamespace();
  return (
    <>
      <p className={answer.chosen === undefined ? 'headline bad' : 'headline'}>
        {answer.chosen === undefined ? t('route.nobody') : t('route.chosen', { agent: answer.chosen })}
        {' · '}
        {t('route.strategy', { strategy: answer.by === 'affinity' ? 'affinity' : answer.strategy })}
        {' · '}
        {t('route.total', { shown: answer.candidates.length, total: answer.total })}
      </p>
      {answer.paused !== undefined && (
        <p className="note warn">{t('route.paused', { reason: answer.paused })}</p>
      )}
      {answer.panic === true && <p className="note warn">{t('decision.panic')}</p>}
      {answer.candidates.length === 0 ? (
        <p className="muted">{t('route.noCandidates', { namespace })}</p>
      ) : (
        <Table
          label={t('route.title')}
          columns={columnsOf(t, namespace)}
          rows={answer.candidates}
          keyOf={(one) => one.agent_id}
        />
      )}
    </>
  );
}

type Candidate = SimulateAnswer['candidates'][number];
const VERDICTS: Record<Candidate['verdict'], { tone: Tone; glyph: string; key: MessageKey }> = {
  chosen: { tone: 'good', glyph: '✓', key: 'route.verdict.chosen' },
  eligible: { tone: 'info', glyph: '●', key: 'route.verdict.eligible' },
  tried: { tone: 'quiet', glyph: '↻', key: 'route.verdict.tried' },
  rejected: { tone: 'bad', glyph: '✕', key: 'route.verdict.rejected' },
};

function columnsOf(t: Translate, namespace: string): Column<Candidate>[] {
  return [
    {
      id: 'agent',
      head: t('col.agent'),
      width: 'minmax(110px, 1fr)',
      by: (c) => c.agent_id,
      cell: (c) => (
        <Link data-row-link className="mono" to={agentPath(c.agent_id, namespace)}>
          {c.agent_id}
        </Link>
      ),
    },
    {
      id: 'verdict',
      head: t('route.verdict'),
      width: '112px',
      cell: ({ verdict }) => (
        <Badge tone={VERDICTS[verdict].tone} glyph={VERDICTS[verdict].glyph}>
          {t(VERDICTS[verdict].key)}
        </Badge>
      ),
    },
    {
      id: 'reason',
      head: t('route.reason'),
      width: 'minmax(120px, 2fr)',
      cell: (c) =>
        c.filter === undefined ? '' : <span title={c.reason}>{`${c.filter}: ${c.reason ?? ''}`}</span>,
    },
    {
      id: 'score',
      head: t('decision.score'),
      width: '56px',
      align: 'end',
      by: (c) => -(c.score ?? -1),
      cell: (c) => c.score?.toFixed(3),
    },
    {
      id: 'parts',
      head: t('decision.parts'),
      width: 'minmax(150px, 2.4fr)',
      cell: (c) => <ScoreParts parts={c.parts} />,
    },
    ...figures(t),
  ];
}

function figures(t: Translate): Column<Candidate>[] {
  const of = (ms: number | undefined) => (ms === undefined ? '' : duration(ms));
  return [
    {
      id: 'share',
      head: t('route.share'),
      width: '62px',
      align: 'end',
      cell: (c) => (c.share === undefined ? '' : percent(c.share)),
    },
    {
      id: 'success',
      head: t('decision.success'),
      width: '66px',
      align: 'end',
      cell: (c) => (c.success_rate === undefined ? '' : percent(c.success_rate)),
    },
    { id: 'p95', head: t('decision.p95'), width: '62px', align: 'end', cell: (c) => of(c.p95_ms) },
    {
      id: 'busy',
      head: t('decision.busy'),
      width: '54px',
      align: 'end',
      cell: (c) => `${c.in_flight}/${c.max_concurrency}`,
    },
  ];
}
