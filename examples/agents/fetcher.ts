import {
  TaskFailed,
  type DependencyDeclaration,
  type IncomingTask,
  type TaskContext,
} from '@agent-reach/sdk';
import { runAgent } from '../lib/run-agent.js';

/*
 * Reads documents from an HTTP service, and says so precisely when that service is the trouble. The centre probes the
 * service, too, and gives the agent no work while it is away.
 */

const SERVICE = process.env['DOCUMENT_SERVICE_URL'] ?? 'http://127.0.0.1:8081';
const DEPENDENCY = 'document-service';
const TIMEOUT_MS = 2000;

async function fetchDocument(task: IncomingTask<{ name: string }>, ctx: TaskContext): Promise<unknown> {
  const { name } = task.payload;
  const url = `${SERVICE}/documents/${encodeURIComponent(name)}`;
  const response = await get(url, ctx.signal);
  if (response.status === 404)
    throw new TaskFailed({
      code: 'AGENT_ERROR',
      message: `there is no document "${name}"`,
      retryable: false,
    });
  if (!response.ok) throw dependencyDown(`${url} answered ${response.status}`, { status: response.status });
  const text = await response.text();
  ctx.meta['bytes'] = Buffer.byteLength(text);
  return { name, text };
}

async function get(url: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  } catch (error) {
    signal.throwIfAborted();
    const { name, cause } = error as { name: string; cause?: { code?: string } };
    const reason = cause?.code ?? name;
    throw dependencyDown(`${url} does not answer (${reason})`, { reason });
  }
}

function dependencyDown(message: string, raw: object): TaskFailed {
  return new TaskFailed({ code: 'DEPENDENCY_DOWN', dependency: DEPENDENCY, retryable: true, message, raw });
}

const dependencies: DependencyDeclaration[] = [
  {
    name: DEPENDENCY,
    type: 'http',
    target: `${SERVICE}/documents`,
    critical: true,
    timeout_ms: TIMEOUT_MS,
  },
];
await runAgent(
  new URL('./fetcher.yaml', import.meta.url),
  { 'document.fetch': fetchDocument },
  { dependencies },
);
