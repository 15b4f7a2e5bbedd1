import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../../../sdk/typescript/src/generated/api.js';
import { authorization, refused } from './token.js';

type Schemas = components['schemas'];
export type Agent = Schemas['Agent'];
export type AgentDetail = Schemas['AgentDetail'];
export type AgentTransition = Schemas['AgentTransition'];
export type Attribution = Schemas['Attribution'];
export type Capability = Schemas['Capability'];
export type Decision = Schemas['Decision'];
export type Delivery = Schemas['Delivery'];
export type Explanation = Schemas['Explanation'];
export type ProbeBudget = Schemas['ProbeBudget'];
export type ListedAgent = Schemas['ListedAgent'];
export type Problem = Schemas['Problem'];
export type SimulateAnswer = Schemas['SimulateAnswer'];
export type Task = Schemas['Task'];
export type TaskDetail = Schemas['TaskDetail'];

/** Longest wait for an answer; the server bounds its own work below that. */
const TIMEOUT_MS = 15_000;

/** A call that failed: the server's problem document, or what kept us from getting one. */
export class ApiError extends Error {
  constructor(
    message: string,
    /** 0: no answer came. */
    readonly status: number,
    readonly code: string,
    readonly traceId?: string,
  ) {
    super(message);
  }
}

const withToken: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    return request;
  },
  onResponse({ request, response }) {
    if (response.status === 401) refused(request.headers.get('authorization'));
    return response;
  },
};

/** The API, typed by its OpenAPI document. */
export const api = createClient<paths>({ baseUrl: location.origin });
api.use(withToken);

/** A signal that ends with the caller's or when the time is over. */
export function within(signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What a call answered. @throws ApiError when it was refused or got no answer */
export async function answerOf<T>(call: Promise<Answer<T>>): Promise<T> {
  const answer = await call.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    const late = cause instanceof DOMException && cause.name === 'TimeoutError';
    throw new ApiError(
      late ? `No answer within ${TIMEOUT_MS / 1000} s` : 'The server does not answer',
      0,
      late ? 'TIMEOUT' : 'UNREACHABLE',
    );
  });
  if (answer.response.ok) return answer.data as T;
  const problem = (answer.error ?? {}) as Partial<Problem>;
  throw new ApiError(
    problem.detail ?? `The server answered ${answer.response.status}`,
    answer.response.status,
    problem.code ?? 'UNKNOWN',
    problem.trace_id,
  );
}
