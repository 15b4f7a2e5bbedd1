import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Link } from 'react-router';
import type { Task } from '../api/client.js';
import { type TaskFilter, useNamespace, useTasks } from '../api/queries.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { duration, shortId, since } from '../lib/format.js';
import { lastMs } from '../lib/last.js';
import { useNow } from '../lib/now.js';
import { agentPath, taskPath } from '../lib/paths.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { FilterField, FilterSelect, LastSelect, useFilters } from '../ui/filter-field.js';
import { Page } from '../ui/page.js';
import { Empty, QueryView } from '../ui/query-view.js';
import { type Column, Table } from '../ui/table.js';
import { TaskState } from '../ui/task-state.js';

const STATES = [
  'scheduled',
  'queued',
  'offered',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const;

/** Tasks, the newest first, by filters that stand in the address. */
export default function Tasks() {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const filter = filterOf(filters.get);
  const query = useTasks(filter, lastMs(filters.get('last')));
  const path = `/api/v1/tasks?${new URLSearchParams({ namespace, ...filter }).toString()}`;
  const states = STATES.map((state) => ({ value: state, text: t(`task.${state}`) }));
  return (
    <Page title={t('tasks.title')} aside={<CopyCurl path={path} />}>
      <div className="filters">
        <FilterSelect
          filters={filters}
          name="state"
          label={t('col.state')}
          options={[{ value: '', text: t('filter.all') }, ...states]}
        />
        <FilterField filters={filters} name="capability" label={t('col.capability')} />
        <FilterField filters={filters} name="agent" label={t('col.agent')} />
        <FilterField filters={filters} name="code" label={t('col.code')} />
        <LastSelect filters={filters} />
        <button type="button" className="quiet" onClick={filters.clear}>
          {t('filter.clear')}
        </button>
      </div>
      <QueryView query={query}>
        {({ pages }) => (
          <Rows
            tasks={pages.flatMap((page) => page.items)}
            more={query.hasNextPage && !query.isFetchingNextPage ? query.fetchNextPage : undefined}
            still={pages.length > 1}
          />
        )}
      </QueryView>
    </Page>
  );
}

function filterOf(get: (name: string) => string): TaskFilter {
  const state = STATES.find((one) => one === get('state'));
  return {
    ...(state !== undefined && { state }),
    ...(get('capability') !== '' && { capability: get('capability') }),
    ...(get('agent') !== '' && { agent_id: get('agent') }),
    ...(get('code') !== '' && { code: get('code') }),
  };
}

function Rows(props: { tasks: readonly Task[]; more: (() => unknown) | undefined; still: boolean }) {
  const t = useText();
  const namespace = useNamespace();
  const client = useQueryClient();
  const nowMs = useNow();
  const { more } = props;
  const onEnd = useCallback(() => void more?.(), [more]);
  if (props.tasks.length === 0)
    return <Empty title={t('tasks.empty.title')} help={t('tasks.empty.help', { namespace })} />;
  return (
    <>
      {props.still && (
        <p className="note">
          {t('tasks.paused', { count: props.tasks.length })}{' '}
          <button type="button" onClick={() => void client.resetQueries({ queryKey: ['tasks'] })}>
            {t('tasks.top')}
          </button>
        </p>
      )}
      <Table
        label={t('tasks.title')}
        columns={columnsOf(t, namespace, nowMs)}
        rows={props.tasks}
        keyOf={(task) => task.task_id}
        onEnd={onEnd}
      />
    </>
  );
}

function columnsOf(t: Translate, namespace: string, nowMs: number): Column<Task>[] {
  return [
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
    { id: 'state', head: t('col.state'), width: '104px', cell: ({ state }) => <TaskState state={state} /> },
    {
      id: 'capability',
      head: t('col.capability'),
      width: 'minmax(110px, 1.4fr)',
      cell: ({ capability }) => <span title={capability}>{capability}</span>,
    },
    {
      id: 'agent',
      head: t('col.agent'),
      width: 'minmax(100px, 1.2fr)',
      cell: ({ agent_id: id }) =>
        id !== undefined && (
          <Link className="mono" to={agentPath(id, namespace)} title={id}>
            {id}
          </Link>
        ),
    },
    {
      id: 'attempt',
      head: t('col.attempt'),
      width: '58px',
      align: 'end',
      cell: (x) => `${x.attempt}/${x.max_attempts}`,
    },
    {
      id: 'created',
      head: t('col.age'),
      width: '84px',
      align: 'end',
      cell: (x) => since(x.created_at, nowMs),
    },
    { id: 'took', head: t('col.took'), width: '84px', align: 'end', cell: tookOf },
    {
      id: 'error',
      head: t('col.error'),
      width: 'minmax(140px, 3fr)',
      cell: ({ error }) =>
        error !== undefined && <span title={error.message}>{`${error.code}: ${error.message}`}</span>,
    },
  ];
}

function tookOf({ finished_at, created_at }: Task): string {
  return finished_at === undefined ? '' : duration(Date.parse(finished_at) - Date.parse(created_at));
}
