import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import { answerOf, api, type Capability, within } from '../api/client.js';
import { useCapabilities, useNamespace } from '../api/queries.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { pathOf } from '../lib/paths.js';
import { Badge } from '../ui/badge.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { Page } from '../ui/page.js';
import { Empty, QueryView } from '../ui/query-view.js';
import { type Column, Table } from '../ui/table.js';

/** Who offers what, what of it can be reached, and what is paused. */
export default function Capabilities() {
  const t = useText();
  const namespace = useNamespace();
  const query = useCapabilities();
  const client = useQueryClient();
  const turn = useMutation({
    mutationFn: ({ capability, paused }: Capability) => {
      const params = { path: { capability } };
      const body = { namespace };
      return answerOf(
        paused
          ? api.POST('/api/v1/capabilities/{capability}/resume', { params, body, signal: within() })
          : api.POST('/api/v1/capabilities/{capability}/pause', { params, body, signal: within() }),
      );
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['capabilities'] }),
  });
  const path = `/api/v1/capabilities?${new URLSearchParams({ namespace }).toString()}`;
  return (
    <Page title={t('capabilities.title')} aside={<CopyCurl path={path} />}>
      <p role="status">{turn.error?.message}</p>
      <QueryView query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t('capabilities.empty.title')} help={t('capabilities.empty.help', { namespace })} />
          ) : (
            <Table
              label={t('capabilities.title')}
              columns={columnsOf(t, namespace, turn.mutate)}
              rows={items}
              keyOf={(one) => one.capability}
            />
          )
        }
      </QueryView>
    </Page>
  );
}

function columnsOf(t: Translate, ns: string, turn: (one: Capability) => void): Column<Capability>[] {
  return [
    {
      id: 'capability',
      head: t('col.capability'),
      width: 'minmax(140px, 2fr)',
      by: (c) => c.capability,
      cell: ({ capability }) => (
        <Link data-row-link className="mono" to={pathOf('/', ns, { capability })} title={capability}>
          {capability}
        </Link>
      ),
    },
    {
      id: 'standing',
      head: t('col.state'),
      width: '150px',
      by: (c) => (c.paused ? 1 : c.reachable === 0 ? 0 : 2),
      cell: (c) => <Standing capability={c} />,
    },
    {
      id: 'agents',
      head: t('capabilities.agents'),
      width: '80px',
      align: 'end',
      by: (c) => c.agents,
      cell: (c) => c.agents,
    },
    {
      id: 'reachable',
      head: t('capabilities.reachable'),
      width: '96px',
      align: 'end',
      by: (c) => c.reachable,
      cell: (c) => c.reachable,
    },
    ...doings(t, ns, turn),
  ];
}

function doings(t: Translate, ns: string, turn: (one: Capability) => void): Column<Capability>[] {
  return [
    {
      id: 'links',
      head: t('capabilities.look'),
      width: 'minmax(200px, 1.5fr)',
      cell: ({ capability }) => (
        <span className="links">
          <Link to={pathOf('/tasks', ns, { capability })}>{t('nav.tasks')}</Link>
          <Link to={pathOf('/why', ns, { capability })}>{t('nav.why')}</Link>
          <Link to={pathOf('/route', ns, { capability })}>{t('nav.route')}</Link>
        </span>
      ),
    },
    {
      id: 'switch',
      head: t('capabilities.switch'),
      width: '110px',
      cell: (c) => (
        <button
          type="button"
          className="small"
          aria-label={`${t(c.paused ? 'capabilities.resume' : 'capabilities.pause')} ${c.capability}`}
          onClick={() => turn(c)}
        >
          {t(c.paused ? 'capabilities.resume' : 'capabilities.pause')}
        </button>
      ),
    },
  ];
}

function Standing({ capability: c }: { capability: Capability }) {
  const t = useText();
  if (c.paused)
    return (
      <span title={c.pause_reason}>
        <Badge tone="warn" glyph="❚❚">
          {t('capabilities.paused')}
        </Badge>
      </span>
    );
  return c.reachable === 0 ? (
    <Badge tone="bad" glyph="✕">
      {t('capabilities.nobody')}
    </Badge>
  ) : (
    <Badge tone="good" glyph="●">
      {t('capabilities.open')}
    </Badge>
  );
}
