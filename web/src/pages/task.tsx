import { useParams } from 'react-router';
import type { TaskDetail } from '../api/client.js';
import { useExplanation, useNamespace, useTask } from '../api/queries.js';
import { useText } from '../i18n/use-text.js';
import { clock, duration } from '../lib/format.js';
import { taskPath } from '../lib/paths.js';
import { Link } from 'react-router';
import { CopyCurl } from '../ui/copy-curl.js';
import { JsonBlock } from '../ui/json-block.js';
import { Page } from '../ui/page.js';
import { QueryView } from '../ui/query-view.js';
import { type Fact, Facts, Section } from '../ui/section.js';
import { TaskState } from '../ui/task-state.js';
import { TaskActions } from './task/actions.js';
import { Attributions } from './task/attributions.js';
import { Deliveries } from './task/deliveries.js';
import { Story } from './task/story.js';

/** The whole story of one task. */
export default function TaskPage() {
  const t = useText();
  const { id = '' } = useParams();
  const namespace = useNamespace();
  const query = useTask(id);
  const path = `/api/v1/tasks/${encodeURIComponent(id)}/explain?${new URLSearchParams({ namespace }).toString()}`;
  return (
    <Page title={`${t('task.title')} ${id}`} aside={<CopyCurl path={path} />}>
      <QueryView query={query}>{(task) => <Whole task={task} />}</QueryView>
    </Page>
  );
}

function Whole({ task }: { task: TaskDetail }) {
  const t = useText();
  const explanation = useExplanation(task.task_id, task.finished_at !== undefined);
  return (
    <>
      <div className="standing">
        <TaskState state={task.state} />
        <span>{task.capability}</span>
        <TaskActions task={task} />
      </div>
      <QueryView query={explanation}>
        {(story) => (
          <>
            <p className={task.state === 'failed' ? 'headline bad' : 'headline'}>{story.headline}</p>
            {story.attributions.length > 0 && <Attributions attributions={story.attributions} />}
          </>
        )}
      </QueryView>
      <Deliveries deliveries={task.deliveries} />
      <div className="columns">
        <QueryView query={explanation}>{(story) => <Story entries={story.story} />}</QueryView>
        <div className="column">
          <Section title={t('task.facts')}>
            <TaskFacts task={task} />
          </Section>
          <Values task={task} />
        </div>
      </div>
    </>
  );
}

function TaskFacts({ task }: { task: TaskDetail }) {
  const t = useText();
  const namespace = useNamespace();
  const took =
    task.finished_at === undefined ? NaN : Date.parse(task.finished_at) - Date.parse(task.created_at);
  const facts: Fact[] = [
    { name: t('task.id'), value: <span className="mono">{task.task_id}</span> },
    { name: t('task.namespace'), value: task.namespace },
    { name: t('col.attempt'), value: t('task.attempts', { n: task.attempt, max: task.max_attempts }) },
    { name: t('task.idempotent'), value: t(task.idempotent ? 'yes' : 'no') },
    { name: t('task.priority'), value: task.priority },
    { name: t('col.created'), value: clock(task.created_at) },
    { name: t('task.runAt'), value: task.run_at === task.created_at ? undefined : clock(task.run_at) },
    { name: t('task.expiresAt'), value: task.expires_at === undefined ? undefined : clock(task.expires_at) },
    {
      name: t('task.finishedAt'),
      value: task.finished_at === undefined ? undefined : `${clock(task.finished_at)} (${duration(took)})`,
    },
    { name: t('task.parent'), value: linkTo(task.parent_task_id, namespace) },
    { name: t('task.retryOf'), value: linkTo(task.retry_of, namespace) },
  ];
  return <Facts facts={facts} />;
}

function linkTo(id: string | undefined, namespace: string) {
  if (id === undefined) return undefined;
  return (
    <Link className="mono" to={taskPath(id, namespace)}>
      {id}
    </Link>
  );
}

/** What was sent and what came back, 4 KiB of each. */
function Values({ task }: { task: TaskDetail }) {
  const t = useText();
  const values = [
    { name: t('task.error'), value: task.error?.message },
    { name: t('task.rawError'), value: task.error?.raw_error },
    { name: t('task.result'), value: task.result },
    { name: t('task.progress'), value: task.progress },
    { name: t('task.payload'), value: task.payload },
    { name: t('task.meta'), value: task.meta },
    { name: t('task.requirement'), value: task.requirement },
  ];
  return values
    .filter(({ value }) => value !== undefined && value !== null)
    .map(({ name, value }) => (
      <Section key={name} title={name}>
        {typeof value === 'string' && name === t('task.error') ? (
          <p className="said">{value}</p>
        ) : (
          <JsonBlock label={name} value={value} />
        )}
      </Section>
    ));
}
