import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { answerOf, api, type TaskDetail, within } from '../../api/client.js';
import { useNamespace } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';
import { taskPath } from '../../lib/paths.js';

/** Cancel what has not ended, or submit anew what has. */
export function TaskActions({ task }: { task: TaskDetail }) {
  return task.finished_at === undefined ? <Cancel task={task} /> : <Retry task={task} />;
}

function Cancel({ task }: { task: TaskDetail }) {
  const t = useText();
  const namespace = useNamespace();
  const client = useQueryClient();
  const [sure, setSure] = useState(false);
  const cancel = useMutation({
    mutationFn: () => {
      const params = { path: { task_id: task.task_id }, query: { namespace } };
      return answerOf(api.POST('/api/v1/tasks/{task_id}/cancel', { params, signal: within() }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['task', namespace, task.task_id] }),
  });
  return (
    <span className="actions">
      {sure ? (
        <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          {t('task.cancel.sure')}
        </button>
      ) : (
        <button type="button" onClick={() => setSure(true)}>
          {t('task.cancel')}
        </button>
      )}
      <span role="status">{cancel.error?.message}</span>
    </span>
  );
}

function Retry({ task }: { task: TaskDetail }) {
  const t = useText();
  const namespace = useNamespace();
  const retry = useMutation({
    mutationFn: () => {
      const params = { path: { task_id: task.task_id }, query: { namespace } };
      return answerOf(api.POST('/api/v1/tasks/{task_id}/retry', { params, signal: within() }));
    },
  });
  return (
    <span className="actions">
      <button type="button" disabled={retry.isPending || retry.isSuccess} onClick={() => retry.mutate()}>
        {t('task.retry')}
      </button>
      <span role="status">
        {retry.error?.message}
        {retry.data !== undefined && (
          <Link to={taskPath(retry.data.task_id, namespace)}>
            {t('task.retried', { id: retry.data.task_id })}
          </Link>
        )}
      </span>
    </span>
  );
}
