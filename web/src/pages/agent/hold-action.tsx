import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type AgentDetail, answerOf, api, within } from '../../api/client.js';
import { useNamespace } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';

/** Takes an agent out of service, with a reason, or lets it back in. */
export function HoldAction({ agent }: { agent: AgentDetail }) {
  const t = useText();
  const namespace = useNamespace();
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const params = { path: { agent_id: agent.agent_id }, query: { namespace } };
  const change = useMutation({
    mutationFn: () =>
      agent.held === undefined
        ? answerOf(api.POST('/api/v1/agents/{agent_id}/hold', { params, body: { reason }, signal: within() }))
        : answerOf(api.POST('/api/v1/agents/{agent_id}/release', { params, signal: within() })),
    onSuccess: () => setReason(''),
    onSettled: () => client.invalidateQueries({ queryKey: ['agent', namespace, agent.agent_id] }),
  });
  return (
    <form
      className="actions"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      {agent.held === undefined ? (
        <>
          <input
            aria-label={t('agent.hold.reason')}
            placeholder={t('agent.hold.reason')}
            value={reason}
            maxLength={500}
            onChange={(event) => setReason(event.target.value)}
          />
          <button type="submit" title={t('agent.hold.help')} disabled={change.isPending}>
            {t('agent.hold')}
          </button>
        </>
      ) : (
        <>
          <span>{agent.held.reason}</span>
          <button type="submit" disabled={change.isPending}>
            {t('agent.release')}
          </button>
        </>
      )}
      <span role="status">{change.error?.message}</span>
    </form>
  );
}
