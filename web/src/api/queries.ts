import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { type Agent, answerOf, api, within } from './client.js';

/** Between two looks where the feed of events does not say when to look. */
const LIST_EVERY_MS = 2000;
const AGENTS_A_PAGE = 500;
const MAX_AGENT_PAGES = 4;

/** The namespace that the address names. */
export function useNamespace(): string {
  const [params] = useSearchParams();
  return params.get('ns') ?? 'default';
}

export interface AgentFilter {
  capability?: string;
  name?: string;
  tag?: string;
}

/** Agents of the namespace, 2000 at most: `more` says that there are others, for which a filter is needed. */
export function useAgents(filter: AgentFilter, facts = false) {
  const namespace = useNamespace();
  return useQuery({
    queryKey: ['agents', namespace, filter, facts],
    queryFn: async ({ signal }) => {
      const items: Agent[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_AGENT_PAGES; page++) {
        const query = { namespace, limit: AGENTS_A_PAGE, ...filter, ...(cursor !== undefined && { cursor }) };
        const answer = await answerOf(
          api.GET('/api/v1/agents', { params: { query }, signal: within(signal) }),
        );
        items.push(...answer.items);
        cursor = answer.next_cursor;
        if (cursor === undefined) break;
      }
      return { items, more: cursor !== undefined };
    },
    refetchInterval: LIST_EVERY_MS,
    placeholderData: keepPreviousData,
  });
}
