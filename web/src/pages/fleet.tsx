import { Link } from 'react-router';
import type { Agent, ListedAgent } from '../api/client.js';
import { useAgents, useNamespace } from '../api/queries.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { duration, percent, since } from '../lib/format.js';
import { useNow } from '../lib/now.js';
import { agentPath } from '../lib/paths.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { FilterField, useFilters } from '../ui/filter-field.js';
import { Page } from '../ui/page.js';
import { Empty, QueryView } from '../ui/query-view.js';
import { StateBadge } from '../ui/state-badge.js';
import { type Column, Table } from '../ui/table.js';

const STATES = ['online', 'degraded', 'suspicious', 'offline', 'removing'] as const;

/** Agents by state, with the reasons. */
export default function Fleet() {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const [capability, name, tag] = [filters.get('capability'), filters.get('name'), filters.get('tag')];
  const query = useAgents(
    {
      ...(capability !== '' && { capability }),
      ...(name !== '' && { name }),
      ...(tag !== '' && { tag }),
    },
    true,
  );
  const path = `/api/v1/agents?${new URLSearchParams({ namespace, limit: '500' }).toString()}`;
  return (
    <Page title={t('fleet.title')} aside={<CopyCurl path={path} />}>
      <div className="filters">
        <FilterField filters={filters} name="q" label={t('filter.search')} />
        <FilterField filters={filters} name="capability" label={t('filter.capability')} />
        <FilterField filters={filters} name="name" label={t('filter.name')} />
        <FilterField filters={filters} name="tag" label={t('filter.tag')} />
      </div>
      <QueryView query={query}>{({ items, more }) => <Agents agents={items} more={more} />}</QueryView>
    </Page>
  );
}

function Agents({ agents, more }: { agents: readonly ListedAgent[]; more: boolean }) {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const columns = useColumns();
  const [state, text] = [filters.get('state'), filters.get('q').toLowerCase()];
  const searched = agents.filter((agent) => agent.agent_id.toLowerCase().includes(text));
  const shown = searched.filter((agent) => state === '' || agent.state === state);
  const filtered = ['q', 'capability', 'name', 'tag', 'state'].some((filter) => filters.get(filter) !== '');
  return (
    <>
      <StateCounts agents={searched} />
      {more && <p className="note">{t('fleet.more', { count: agents.length })}</p>}
      {shown.length > 0 ? (
        <Table label={t('fleet.title')} columns={columns} rows={shown} keyOf={(agent) => agent.agent_id} />
      ) : filtered ? (
        <Empty title={t('fleet.filtered.title')} help={t('fleet.filtered.help', { count: agents.length })}>
          <button type="button" onClick={filters.clear}>
            {t('filter.clear')}
          </button>
        </Empty>
      ) : (
        <Empty title={t('fleet.empty.title')} help={t('fleet.empty.help', { namespace })} />
      )}
    </>
  );
}

/** How many are in each state; a state filters by itself. */
function StateCounts({ agents }: { agents: readonly ListedAgent[] }) {
  const t = useText();
  const filters = useFilters();
  const chosen = filters.get('state');
  return (
    <div className="counts" role="group" aria-label={t('fleet.states')}>
      <Count
        label={t('filter.all')}
        n={agents.length}
        on={chosen === ''}
        choose={() => filters.set('state', '')}
      />
      {STATES.map((state) => (
        <Count
          key={state}
          label={<StateBadge state={state} />}
          n={agents.filter((agent) => agent.state === state).length}
          on={chosen === state}
          choose={() => filters.set('state', chosen === state ? '' : state)}
        />
      ))}
    </div>
  );
}

function Count(props: { label: React.ReactNode; n: number; on: boolean; choose: () => void }) {
  return (
    <button type="button" className="count" aria-pressed={props.on} onClick={props.choose}>
      <strong>{props.n}</strong>
      <span>{props.label}</span>
    </button>
  );
}

/** The worst first. */
const URGENCY: Record<Agent['state'], number> = {
  offline: 0,
  suspicious: 1,
  degraded: 2,
  removing: 3,
  online: 4,
};

function useColumns(): Column<ListedAgent>[] {
  const t = useText();
  const namespace = useNamespace();
  const nowMs = useNow();
  return [...standingColumns(t, namespace, nowMs), ...workColumns(t, nowMs)];
}

function standingColumns(t: Translate, namespace: string, nowMs: number): Column<ListedAgent>[] {
  return [
    {
      id: 'agent',
      head: t('fleet.agent'),
      width: 'minmax(100px, 1.2fr)',
      by: (a) => a.agent_id,
      cell: (a) => (
        <Link data-row-link className="mono" to={agentPath(a.agent_id, namespace)} title={a.agent_id}>
          {a.agent_id}
        </Link>
      ),
    },
    {
      id: 'state',
      head: t('fleet.state'),
      width: 'minmax(168px, 1.3fr)',
      by: (a) => URGENCY[a.state],
      cell: (a) => <StateBadge state={a.state} agent={a} />,
    },
    {
      id: 'for',
      head: t('fleet.for'),
      width: '76px',
      align: 'end',
      by: (a) => -Date.parse(a.state_since),
      cell: (a) => since(a.state_since, nowMs),
    },
    {
      id: 'reason',
      head: t('fleet.reason'),
      width: 'minmax(130px, 2.4fr)',
      cell: (a) => <Reason agent={a} />,
    },
  ];
}

function workColumns(t: Translate, nowMs: number): Column<ListedAgent>[] {
  return [
    {
      id: 'busy',
      head: t('fleet.busy'),
      width: '96px',
      by: (a) => a.in_flight / a.max_concurrency,
      cell: (a) => <Busy agent={a} />,
    },
    {
      id: 'capabilities',
      head: t('fleet.capabilities'),
      width: 'minmax(100px, 1.2fr)',
      cell: (a) => <span title={namesOf(a)}>{namesOf(a)}</span>,
    },
    { id: 'capacity', head: t('fleet.capacity'), width: 'minmax(80px, 1fr)', cell: (a) => reported(a, t) },
    {
      id: 'transport',
      head: t('fleet.transport'),
      width: '64px',
      by: (a) => a.transport,
      cell: (a) => a.transport,
    },
    {
      id: 'heartbeat',
      head: t('fleet.heartbeat'),
      width: '80px',
      align: 'end',
      by: (a) => -Date.parse(a.last_heartbeat_at),
      cell: (a) => since(a.last_heartbeat_at, nowMs),
    },
  ];
}

function Reason({ agent }: { agent: Agent }) {
  const t = useText();
  const hold =
    agent.held === undefined
      ? ''
      : agent.held.reason === ''
        ? t('fleet.held.noReason')
        : t('fleet.held', { reason: agent.held.reason });
  const text = [hold, agent.breaker?.cause ?? '', agent.state_reason]
    .filter((part) => part !== '')
    .join(' · ');
  return <span title={text}>{text}</span>;
}

function Busy({ agent }: { agent: Agent }) {
  const t = useText();
  const { in_flight: busy, max_concurrency: all } = agent;
  return (
    <span className="busy" title={t('fleet.slots', { busy, all })}>
      <span className="gauge" aria-hidden="true">
        <span style={{ width: `${Math.min(100, (busy / all) * 100)}%` }} />
      </span>
      {busy}/{all}
    </span>
  );
}

function namesOf(agent: Agent): string {
  return agent.capabilities
    .map((c) => (c.version === undefined ? c.name : `${c.name} ${c.version}`))
    .join(', ');
}

/** What the agent says of its own load. */
function reported({ capacity }: Agent, t: Translate): string {
  if (capacity === null) return '';
  return [
    capacity.queued === undefined ? '' : t('fleet.queued', { n: capacity.queued }),
    capacity.pool_usage === undefined ? '' : t('fleet.pool', { share: percent(capacity.pool_usage) }),
    capacity.loop_delay_ms === undefined ? '' : t('fleet.loop', { ms: duration(capacity.loop_delay_ms) }),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
