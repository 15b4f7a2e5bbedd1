import { useMemo } from 'react';
import { Link } from 'react-router';
import type { ListedAgent } from '../api/client.js';
import { useAgents, useNamespace } from '../api/queries.js';
import { useText } from '../i18n/use-text.js';
import { agentPath, pathOf } from '../lib/paths.js';
import { FOLD_ABOVE, type Node, pictureOf, type Source } from '../lib/topology.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { useFilters } from '../ui/filter-field.js';
import { Page } from '../ui/page.js';
import { Empty, QueryView } from '../ui/query-view.js';
import { Section, SmallTable } from '../ui/section.js';
import { StandingBadge } from '../ui/standing.js';
import { StateBadge } from '../ui/state-badge.js';
import { Drawing } from './topology/drawing.js';

const STANDINGS = ['good', 'suspect', 'bad', 'unknown'] as const;

/** Agents and what they need, by the last probes. */
export default function Topology() {
  const t = useText();
  const namespace = useNamespace();
  const query = useAgents({}, true);
  const path = `/api/v1/agents?${new URLSearchParams({ namespace, facts: 'true', limit: '500' }).toString()}`;
  return (
    <Page title={t('topology.title')} aside={<CopyCurl path={path} />}>
      <div className="standing">
        <span className="muted">{t('topology.help')}</span>
        <span className="badges" role="group" aria-label={t('topology.legend')}>
          {STANDINGS.map((standing) => (
            <span key={standing} className="legend">
              <svg width="30" height="8" aria-hidden="true">
                <line x1="0" y1="4" x2="30" y2="4" className={`line ${standing}`} />
              </svg>
              <StandingBadge standing={standing} />
            </span>
          ))}
        </span>
      </div>
      <QueryView query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t('topology.empty.title')} help={t('topology.empty.help', { namespace })} />
          ) : (
            <Picture agents={items} />
          )
        }
      </QueryView>
    </Page>
  );
}

function Picture({ agents }: { agents: readonly ListedAgent[] }) {
  const t = useText();
  const filters = useFilters();
  const picture = useMemo(() => pictureOf(agents.map(sourceOf)), [agents]);
  const chosen = picture.nodes.find((node) => node.id === filters.get('node'));
  return (
    <>
      {picture.folded && <p className="note">{t('topology.folded', { limit: FOLD_ABOVE })}</p>}
      <div className="topology">
        <Drawing picture={picture} chosen={chosen?.id} choose={(id) => filters.set('node', id)} />
        <div className="column">
          {chosen === undefined ? (
            <p className="muted">{t('topology.choose')}</p>
          ) : (
            <Chosen node={chosen} agents={agents} />
          )}
          <details>
            <summary>{t('topology.table')}</summary>
            <Lines agents={agents} />
          </details>
        </div>
      </div>
    </>
  );
}

function sourceOf(agent: ListedAgent): Source {
  return {
    id: agent.agent_id,
    name: agent.name,
    state: agent.state,
    dependencies: agent.facts?.dependencies ?? [],
  };
}

/** What is known of a node, and why a line to it is red. */
function Chosen({ node, agents }: { node: Node; agents: readonly ListedAgent[] }) {
  const t = useText();
  const namespace = useNamespace();
  const concerned = agents.filter((agent) => node.agents.includes(agent.agent_id));
  return (
    <Section
      title={node.label}
      aside={
        node.kind === 'dependency' && (
          <Link to={pathOf('/why', namespace, { dependency: node.label })}>{t('nav.why')}</Link>
        )
      }
    >
      {node.kind === 'dependency' ? (
        <Lines agents={concerned} only={node.label} />
      ) : (
        <>
          <ul className="cards tight">
            {concerned.map((agent) => (
              <li key={agent.agent_id} className="card-head">
                <Link className="mono" to={agentPath(agent.agent_id, namespace)}>
                  {agent.agent_id}
                </Link>
                <StateBadge state={agent.state} agent={agent} />
                <span>{agent.state_reason}</span>
              </li>
            ))}
          </ul>
          <Lines agents={concerned} />
        </>
      )}
    </Section>
  );
}

/** The lines as a table: who needs what, and what the last probe said. */
function Lines({ agents, only }: { agents: readonly ListedAgent[]; only?: string }) {
  const t = useText();
  const namespace = useNamespace();
  const head = [t('col.agent'), t('col.dependency'), t('col.state'), t('col.message')];
  const rows = agents.flatMap((agent) =>
    (agent.facts?.dependencies ?? [])
      .filter((one) => only === undefined || one.name === only)
      .map((one) => ({ id: agent.agent_id, one })),
  );
  if (rows.length === 0) return <p className="muted">{t('agent.dependencies.none')}</p>;
  return (
    <SmallTable label={t('topology.table')} head={head}>
      {rows.map(({ id, one }) => (
        <tr key={`${id} ${one.name}`}>
          <td>
            <Link className="mono" to={agentPath(id, namespace)}>
              {id}
            </Link>
          </td>
          <td>{one.name}</td>
          <td>
            <StandingBadge standing={one.standing} />
          </td>
          <td className="wrap">{one.detail ?? one.fault}</td>
        </tr>
      ))}
    </SmallTable>
  );
}
