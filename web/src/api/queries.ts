import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { answerOf, api, ApiError, type ListedAgent, within } from './client.js';
import { authorization } from './token.js';

/** Between two looks where the feed of events does not say when to look. */
const LIST_EVERY_MS = 2000;
const AGENTS_A_PAGE = 500;
const MAX_AGENT_PAGES = 4;
const ROWS_A_PAGE = 100;
const ENDED: readonly string[] = ['succeeded', 'failed', 'canceled', 'expired'];

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
      const items: ListedAgent[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_AGENT_PAGES; page++) {
        const query = {
          namespace,
          limit: AGENTS_A_PAGE,
          ...filter,
          ...(facts && { facts: 'true' }),
          ...(cursor !== undefined && { cursor }),
        };
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

/** One agent with facts and history. */
export function useAgent(id: string) {
  const namespace = useNamespace();
  return useQuery({
    queryKey: ['agent', namespace, id],
    queryFn: ({ signal }) => {
      const params = { path: { agent_id: id }, query: { namespace } };
      return answerOf(api.GET('/api/v1/agents/{agent_id}', { params, signal: within(signal) }));
    },
    refetchInterval: LIST_EVERY_MS,
  });
}

type State = 'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
export interface TaskFilter {
  state?: State;
  capability?: string;
  agent_id?: string;
  code?: string;
}

/** Tasks, the newest first. Only the first page is looked at again: rows must not move under whoever reads on. */
export function useTasks(filter: TaskFilter, lastMs: number | undefined) {
  const namespace = useNamespace();
  return useInfiniteQuery({
    queryKey: ['tasks', namespace, filter, lastMs],
    queryFn: ({ pageParam, signal }) => {
      const query = { namespace, limit: ROWS_A_PAGE, ...filter, ...sinceOf(lastMs), ...cursorOf(pageParam) };
      return answerOf(api.GET('/api/v1/tasks', { params: { query }, signal: within(signal) }));
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 1) > 1 ? false : LIST_EVERY_MS),
    placeholderData: keepPreviousData,
  });
}

/** One task, looked at every second until it has ended. */
export function useTask(id: string) {
  const namespace = useNamespace();
  return useQuery({
    queryKey: ['task', namespace, id],
    queryFn: ({ signal }) => {
      const params = { path: { task_id: id }, query: { namespace } };
      return answerOf(api.GET('/api/v1/tasks/{task_id}', { params, signal: within(signal) }));
    },
    refetchInterval: (query) => (ENDED.includes(query.state.data?.state ?? '') ? false : 1000),
  });
}

/** The story of a task; `ended`: it changes no more. */
export function useExplanation(id: string, ended: boolean) {
  const namespace = useNamespace();
  return useQuery({
    // Asked once more when the task has ended.
    queryKey: ['explanation', namespace, id, ended],
    queryFn: ({ signal }) => {
      const params = { path: { task_id: id }, query: { namespace } };
      return answerOf(api.GET('/api/v1/tasks/{task_id}/explain', { params, signal: within(signal) }));
    },
    refetchInterval: ended ? false : 1000,
    placeholderData: keepPreviousData,
  });
}

export const BLAMES = ['dependency', 'agent', 'network', 'caller', 'platform'] as const;
export const GROUPS = ['code', 'blame', 'agent_id', 'dependency', 'capability', 'stage'] as const;
export type Group = (typeof GROUPS)[number];
export interface FailureFilter {
  code?: string;
  blame?: (typeof BLAMES)[number];
  agent_id?: string;
  dependency?: string;
  capability?: string;
}

/** Failures counted by one of their parts. */
export function useFailureCounts(filter: FailureFilter, lastMs: number | undefined, group_by: Group) {
  const namespace = useNamespace();
  return useQuery({
    queryKey: ['failure counts', namespace, filter, lastMs, group_by],
    queryFn: ({ signal }) => {
      const query = { namespace, group_by, ...filter, ...sinceOf(lastMs) };
      return answerOf(api.GET('/api/v1/attributions/summary', { params: { query }, signal: within(signal) }));
    },
    refetchInterval: LIST_EVERY_MS,
    placeholderData: keepPreviousData,
  });
}

/** Failures one by one, the newest first. */
export function useFailures(filter: FailureFilter, lastMs: number | undefined) {
  const namespace = useNamespace();
  return useInfiniteQuery({
    queryKey: ['failures', namespace, filter, lastMs],
    queryFn: ({ pageParam, signal }) => {
      const query = { namespace, limit: ROWS_A_PAGE, ...filter, ...sinceOf(lastMs), ...cursorOf(pageParam) };
      return answerOf(api.GET('/api/v1/attributions', { params: { query }, signal: within(signal) }));
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 1) > 1 ? false : LIST_EVERY_MS),
    placeholderData: keepPreviousData,
  });
}

function sinceOf(lastMs: number | undefined): { since?: string } {
  return lastMs === undefined ? {} : { since: new Date(Date.now() - lastMs).toISOString() };
}

function cursorOf(cursor: string): { cursor?: string } {
  return cursor === '' ? {} : { cursor };
}

/** Whether agents would get work of their capabilities now: what a simulation says of each. */
export function useStanding(agentId: string, capabilities: readonly string[]) {
  const namespace = useNamespace();
  return useQuery({
    queryKey: ['standing', namespace, agentId, capabilities],
    queryFn: ({ signal }) =>
      Promise.all(
        capabilities.map(async (capability) => {
          const body = { namespace, capability, agent_id: agentId };
          const answer = await answerOf(api.POST('/api/v1/route/simulate', { body, signal: within(signal) }));
          const candidate = answer.candidates.find((one) => one.agent_id === agentId);
          return { capability, candidate, paused: answer.paused };
        }),
      ),
    refetchInterval: 2 * LIST_EVERY_MS,
    placeholderData: keepPreviousData,
  });
}

/** Who offers what. */
export function useCapabilities() {
  const namespace = useNamespace();
  return useQuery({
    queryKey: ['capabilities', namespace],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/api/v1/capabilities', { params: { query: { namespace } }, signal: within(signal) })),
    refetchInterval: LIST_EVERY_MS,
  });
}

/** What probing costs. */
export function useProbeBudget() {
  return useQuery({
    queryKey: ['probe budget'],
    queryFn: ({ signal }) => answerOf(api.GET('/api/v1/probe/budget', { signal: within(signal) })),
    refetchInterval: 2 * LIST_EVERY_MS,
  });
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** Whether the server can work. It answers 503 with the same body when it cannot, and that is no failure here. */
export function useReadiness() {
  return useQuery({
    queryKey: ['readiness'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/readyz', { signal: within(signal) }).catch(() => undefined);
      if (response === undefined) throw new ApiError('The server does not answer', 0, 'UNREACHABLE');
      return (await response.json()) as Readiness;
    },
    refetchInterval: LIST_EVERY_MS,
  });
}

/** The version that the server's API description names. */
export function useVersion() {
  return useQuery({
    queryKey: ['version'],
    queryFn: async ({ signal }) => {
      const headers = authorization();
      const response = await fetch('/api/openapi.json', { headers, signal: within(signal) });
      if (!response.ok)
        throw new ApiError(`The server answered ${response.status}`, response.status, 'UNKNOWN');
      const document = (await response.json()) as { info?: { version?: string } };
      return document.info?.version ?? '?';
    },
    staleTime: Infinity,
  });
}
