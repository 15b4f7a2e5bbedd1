import { useParams } from 'react-router';
import type { AgentDetail } from '../api/client.js';
import { useAgent, useNamespace } from '../api/queries.js';
import { useText } from '../i18n/use-text.js';
import { clock, since } from '../lib/format.js';
import { useNow } from '../lib/now.js';
import { CopyCurl } from '../ui/copy-curl.js';
import { JsonBlock } from '../ui/json-block.js';
import { Page } from '../ui/page.js';
import { QueryView } from '../ui/query-view.js';
import { type Fact, Facts, Section } from '../ui/section.js';
import { StateBadge } from '../ui/state-badge.js';
import { Dependencies } from './agent/dependencies.js';
import { History } from './agent/history.js';
import { HoldAction } from './agent/hold-action.js';
import { RecentTasks } from './agent/recent-tasks.js';
import { Standing } from './agent/standing.js';
import { Windows } from './agent/windows.js';

/** One agent: its state with the evidence, what it needs, and what it did. */
export default function AgentPage() {
  const t = useText();
  const { id = '' } = useParams();
  const namespace = useNamespace();
  const query = useAgent(id);
  const path = `/api/v1/agents/${encodeURIComponent(id)}?${new URLSearchParams({ namespace }).toString()}`;
  return (
    <Page title={`${t('agent.title')} ${id}`} aside={<CopyCurl path={path} />}>
      <QueryView query={query}>{(agent) => <Whole agent={agent} />}</QueryView>
    </Page>
  );
}

function Whole({ agent }: { agent: AgentDetail }) {
  const t = useText();
  const nowMs = useNow();
  return (
    <>
      <div className="standing">
        <StateBadge state={agent.state} agent={agent} />
        <span>
          {[agent.state_reason, agent.breaker?.cause ?? ''].filter((part) => part !== '').join(' · ')}
        </span>
        <span className="muted">{since(agent.state_since, nowMs)}</span>
        <HoldAction agent={agent} />
      </div>
      <div className="columns">
        <div className="column">
          <Section title={t('agent.facts')}>
            <Facts facts={useJudgedFacts(agent)} />
          </Section>
          <Dependencies agent={agent} />
          <Standing agent={agent} />
          <Windows agent={agent} />
        </div>
        <div className="column">
          <History history={agent.history} />
          <RecentTasks agentId={agent.agent_id} />
          <Section title={t('task.facts')}>
            <Facts facts={useRegisteredFacts(agent)} />
            {Object.keys(agent.metadata).length > 0 && (
              <JsonBlock label={t('agent.metadata')} value={agent.metadata} />
            )}
          </Section>
        </div>
      </div>
    </>
  );
}

function useJudgedFacts(agent: AgentDetail): Fact[] {
  const t = useText();
  const nowMs = useNow();
  const { facts } = agent;
  const time = since(agent.last_heartbeat_at, nowMs);
  const left = since(new Date(nowMs).toISOString(), Date.parse(agent.lease_expires_at));
  const { warm_up: warmUp, echo } = facts;
  return [
    {
      name: t('agent.lease'),
      value: t(`agent.lease.${facts.lease}`, { time: left }),
    },
    { name: t('agent.heartbeat'), value: t(`agent.heartbeat.${facts.heartbeat}`, { time }) },
    { name: t('agent.session'), value: t(`agent.session.${facts.session}`) },
    {
      name: t('agent.echo'),
      value: [
        t(`agent.standing.${echo.standing}`),
        echo.latency_ms === undefined ? '' : `${Math.round(echo.latency_ms)} ms`,
        echo.detail ?? echo.fault ?? '',
      ]
        .filter((part) => part !== '')
        .join(' · '),
    },
    {
      name: t('agent.warmUp'),
      value:
        warmUp === undefined || warmUp.passed
          ? t('agent.warm')
          : t('agent.warming', { good: warmUp.good, needed: warmUp.needed }),
    },
    {
      name: t('agent.slots'),
      value: t('agent.slots.value', { busy: agent.in_flight, all: agent.max_concurrency }),
    },
  ];
}

function useRegisteredFacts(agent: AgentDetail): Fact[] {
  const t = useText();
  return [
    { name: t('agent.name'), value: agent.name },
    { name: t('task.namespace'), value: agent.namespace },
    { name: t('agent.transport'), value: agent.transport },
    { name: t('agent.endpoint'), value: agent.endpoint },
    { name: t('agent.source'), value: agent.source },
    { name: t('agent.tags'), value: agent.tags.length === 0 ? undefined : agent.tags.join(', ') },
    { name: t('agent.registered'), value: clock(agent.registered_at) },
  ];
}
