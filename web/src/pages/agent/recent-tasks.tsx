import { Link } from 'react-router';
import { useNamespace, useTasks } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';
import { shortId, since } from '../../lib/format.js';
import { useNow } from '../../lib/now.js';
import { pathOf, taskPath } from '../../lib/paths.js';
import { QueryView } from '../../ui/query-view.js';
import { Section, SmallTable } from '../../ui/section.js';
import { TaskState } from '../../ui/task-state.js';

const SHOWN = 10;

/** The latest tasks of an agent. */
export function RecentTasks({ agentId }: { agentId: string }) {
  const t = useText();
  const namespace = useNamespace();
  const nowMs = useNow();
  const query = useTasks({ agent_id: agentId }, undefined);
  const head = [t('col.task'), t('col.state'), t('col.capability'), t('col.created'), t('col.error')];
  return (
    <Section
      title={t('agent.recent')}
      aside={
        <span className="links">
          <Link to={pathOf('/tasks', namespace, { agent: agentId })}>{t('agent.recent.all')}</Link>
          <Link to={pathOf('/why', namespace, { agent_id: agentId })}>{t('agent.failed.all')}</Link>
        </span>
      }
    >
      <QueryView query={query}>
        {({ pages }) => {
          const tasks = (pages[0]?.items ?? []).slice(0, SHOWN);
          if (tasks.length === 0) return <p className="muted">{t('agent.recent.none')}</p>;
          return (
            <SmallTable label={t('agent.recent')} head={head}>
              {tasks.map((task) => (
                <tr key={task.task_id}>
                  <td>
                    <Link className="mono" to={taskPath(task.task_id, namespace)} aria-label={task.task_id}>
                      {shortId(task.task_id)}
                    </Link>
                  </td>
                  <td>
                    <TaskState state={task.state} />
                  </td>
                  <td>{task.capability}</td>
                  <td>{t('ago', { time: since(task.created_at, nowMs) })}</td>
                  <td className="mono">{task.error?.code}</td>
                </tr>
              ))}
            </SmallTable>
          );
        }}
      </QueryView>
    </Section>
  );
}
