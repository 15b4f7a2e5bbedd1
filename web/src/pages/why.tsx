import { useCallback } from 'react';
import { Link } from 'react-router';
import type { Attribution } from '../api/client.js';
import {
  BLAMES,
  type FailureFilter,
  type Group,
  GROUPS,
  useFailureCounts,
  useFailures,
  useNamespace,
} from '../api/queries.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { clock, percent, shortId, since } from '../lib/format.js';
import { lastMs } from '../lib/last.js';
import { useNow } from '../lib/now.js';
import { agentPath, taskPath } from '../lib/paths.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { FilterField, FilterSelect, LastSelect, useFilters } from '../ui/filter-field.js';
import { Page } from '../ui/page.js';
import { Empty, QueryView } from '../ui/query-view.js';
import { Section, SmallTable } from '../ui/section.js';
import { type Column, Table } from '../ui/table.js';

/** Why attempts failed: counted, narrowed by a click, and one by one. */
export default function Why() {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const filter = filterOf(filters.get);
  const path = `/api/v1/attributions?${new URLSearchParams({ namespace, ...filter }).toString()}`;
  const blames = BLAMES.map((blame) => ({ value: blame, text: t(`blame.${blame}`) }));
  return (
    <Page title={t('why.title')} aside={<CopyCurl path={path} />}>
      <p className="muted">{t('why.help')}</p>
      <div className="filters">
        <FilterField filters={filters} name="code" label={t('col.code')} />
        <FilterSelect
          filters={filters}
          name="blame"
          label={t('col.blame')}
          options={[{ value: '', text: t('filter.all') }, ...blames]}
        />
        <FilterField filters={filters} name="agent_id" label={t('col.agent')} />
        <FilterField filters={filters} name="dependency" label={t('col.dependency')} />
        <FilterField filters={filters} name="capability" label={t('col.capability')} />
        <LastSelect filters={filters} />
        <button type="button" className="quiet" onClick={filters.clear}>
          {t('filter.clear')}
        </button>
      </div>
      <Counts filter={filter} />
      <Failures filter={filter} />
    </Page>
  );
}

function filterOf(get: (name: string) => string): FailureFilter {
  const blame = BLAMES.find((one) => one === get('blame'));
  const names = ['code', 'agent_id', 'dependency', 'capability'] as const;
  const given = names.filter((name) => get(name) !== '').map((name) => [name, get(name)]);
  return { ...(Object.fromEntries(given) as FailureFilter), ...(blame !== undefined && { blame }) };
}

function Counts({ filter }: { filter: FailureFilter }) {
  const t = useText();
  const filters = useFilters();
  const group = GROUPS.find((one) => one === filters.get('by')) ?? 'code';
  const query = useFailureCounts(filter, lastMs(filters.get('last')), group);
  return (
    <Section
      title={t('why.groupBy')}
      aside={
        <span className="tabs" role="group" aria-label={t('why.groupBy')}>
          {GROUPS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === group}
              onClick={() => filters.set('by', one)}
            >
              {t(`why.group.${one}`)}
            </button>
          ))}
        </span>
      }
    >
      <QueryView query={query}>
        {({ groups, group_by }) => groups.length > 0 && <Groups groups={groups} group={group_by} />}
      </QueryView>
    </Section>
  );
}

type Counted = NonNullable<ReturnType<typeof useFailureCounts>['data']>['groups'];

function Groups({ groups, group }: { groups: Counted; group: Group }) {
  const t = useText();
  const nowMs = useNow();
  const filters = useFilters();
  // A task that expired before any attempt is a failure too.
  const all = groups.reduce((sum, one) => sum + Math.max(one.attempts, one.tasks), 0);
  const head = [t(`why.group.${group}`), t('why.share'), t('why.attempts'), t('why.tasks'), t('why.last')];
  return (
    <SmallTable label={t('why.groupBy')} head={head}>
      {groups.map(({ key, attempts, tasks, last_at }) => {
        const share = Math.max(attempts, tasks) / all;
        return (
          <tr key={key ?? ''}>
            <td>
              {key === null ? (
                <span className="muted">{t('none')}</span>
              ) : group === 'stage' ? (
                key
              ) : (
                <button type="button" className="link mono" onClick={() => filters.set(group, key)}>
                  {group === 'blame' ? t(`blame.${key as 'agent'}`) : key}
                </button>
              )}
            </td>
            <td>
              <span className="share">
                <span className="gauge wide" aria-hidden="true">
                  <span style={{ width: `${share * 100}%` }} />
                </span>
                {percent(share)}
              </span>
            </td>
            <td>{attempts}</td>
            <td>{tasks}</td>
            <td>{t('ago', { time: since(last_at, nowMs) })}</td>
          </tr>
        );
      })}
    </SmallTable>
  );
}

function Failures({ filter }: { filter: FailureFilter }) {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const query = useFailures(filter, lastMs(filters.get('last')));
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = query;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage]);
  return (
    <QueryView query={query}>
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.items);
        if (rows.length === 0)
          return <Empty title={t('why.empty.title')} help={t('why.empty.help', { namespace })} />;
        return (
          <Table
            label={t('why.failures')}
            columns={columnsOf(t, namespace)}
            rows={rows}
            keyOf={(one) => one.attribution_id}
            onEnd={onEnd}
          />
        );
      }}
    </QueryView>
  );
}

function columnsOf(t: Translate, namespace: string): Column<Attribution>[] {
  return [
    { id: 'at', head: t('col.at'), width: '88px', cell: ({ at }) => clock(at) },
    {
      id: 'task',
      head: t('col.task'),
      width: '112px',
      cell: ({ task_id: id }) => (
        <Link data-row-link className="mono" to={taskPath(id, namespace)} title={id} aria-label={id}>
          {shortId(id)}
        </Link>
      ),
    },
    {
      id: 'code',
      head: t('col.code'),
      width: 'minmax(130px, 1.2fr)',
      cell: ({ code }) => (
        <span className="mono" title={code}>
          {code}
        </span>
      ),
    },
    {
      id: 'blame',
      head: t('col.blame'),
      width: '84px',
      cell: ({ blame }) => t(`blame.${blame}`),
    },
    {
      id: 'agent',
      head: t('col.agent'),
      width: 'minmax(90px, 1fr)',
      cell: ({ agent_id: id }) =>
        id !== undefined && (
          <Link className="mono" to={agentPath(id, namespace)}>
            {id}
          </Link>
        ),
    },
    {
      id: 'message',
      head: t('col.message'),
      width: 'minmax(180px, 4fr)',
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
  ];
}
