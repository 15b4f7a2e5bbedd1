import { useState } from 'react';
import { Link } from 'react-router';
import type { FeedEvent } from '../api/feed.js';
import { useNamespace } from '../api/queries.js';
import { feedEvents, feedStatus } from '../api/use-feed.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { clock } from '../lib/format.js';
import { agentPath } from '../lib/paths.js';
import { useStore } from '../lib/store.js';
import { Badge, type Tone } from '../ui/badge.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { FilterField, FilterSelect, useFilters } from '../ui/filter-field.js';
import { Page } from '../ui/page.js';
import { Empty } from '../ui/query-view.js';
import { isAgentState, StateBadge } from '../ui/state-badge.js';
import { type Column, Table } from '../ui/table.js';

const TYPES: Record<FeedEvent['type'], { tone: Tone; glyph: string }> = {
  transition: { tone: 'info', glyph: '→' },
  hold: { tone: 'quiet', glyph: '❚❚' },
  release: { tone: 'quiet', glyph: '▶' },
  doubt: { tone: 'warn', glyph: '▲' },
  trust: { tone: 'good', glyph: '●' },
};
const NAMES = Object.keys(TYPES) as FeedEvent['type'][];

/** What happens to agents, as it happens. */
export default function Events() {
  const t = useText();
  const namespace = useNamespace();
  const filters = useFilters();
  const live = useStore(feedEvents);
  const status = useStore(feedStatus);
  const [still, setStill] = useState<readonly FeedEvent[]>();
  const [type, agent] = [filters.get('type'), filters.get('agent').toLowerCase()];
  const shown = (still ?? live).filter(
    (event) => (type === '' || event.type === type) && (event.agent_id ?? '').toLowerCase().includes(agent),
  );
  const path = `/api/v1/events?${new URLSearchParams({ namespace, last_event_id: '0' }).toString()}`;
  const options = NAMES.map((name) => ({ value: name, text: t(`events.type.${name}`) }));
  return (
    <Page title={t('events.title')} aside={<CopyCurl path={path} />}>
      <div className="filters">
        <FilterSelect
          filters={filters}
          name="type"
          label={t('events.type')}
          options={[{ value: '', text: t('filter.all') }, ...options]}
        />
        <FilterField filters={filters} name="agent" label={t('col.agent')} />
        <button
          type="button"
          aria-pressed={still !== undefined}
          onClick={() => setStill(still === undefined ? live : undefined)}
        >
          {still === undefined ? t('events.pause') : t('events.resume', { n: live.length - still.length })}
        </button>
      </div>
      {shown.length === 0 ? (
        <Empty
          title={t('events.empty.title')}
          help={t(status === 'live' ? 'events.empty.help' : 'events.empty.broken')}
        />
      ) : (
        <Table
          label={t('events.title')}
          columns={columnsOf(t, namespace)}
          rows={shown}
          keyOf={(event) => event.event_id}
        />
      )}
    </Page>
  );
}

function columnsOf(t: Translate, namespace: string): Column<FeedEvent>[] {
  return [
    { id: 'at', head: t('col.at'), width: '92px', cell: ({ at }) => clock(at) },
    {
      id: 'type',
      head: t('events.type'),
      width: '112px',
      cell: ({ type }) => <Badge {...TYPES[type]}>{t(`events.type.${type}`)}</Badge>,
    },
    {
      id: 'agent',
      head: t('col.agent'),
      width: 'minmax(110px, 1fr)',
      cell: ({ agent_id: id, replica_id }) =>
        id === undefined ? (
          <span className="mono">{replica_id}</span>
        ) : (
          <Link data-row-link className="mono" to={agentPath(id, namespace)} title={id}>
            {id}
          </Link>
        ),
    },
    {
      id: 'states',
      head: t('col.state'),
      width: '220px',
      cell: ({ type, from_state: from, to_state: to }) =>
        type === 'transition' && (
          <span className="badges">
            {isAgentState(from) && (
              <>
                <StateBadge state={from} /> →
              </>
            )}
            {isAgentState(to) && <StateBadge state={to} />}
          </span>
        ),
    },
    {
      id: 'reason',
      head: t('fleet.reason'),
      width: 'minmax(160px, 3fr)',
      cell: ({ reason }) => <span title={reason}>{reason}</span>,
    },
  ];
}
