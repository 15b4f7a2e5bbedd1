import { newId } from '../../src/platform/ids.js';
import type { NewTask } from '../../src/scheduler/admission.store.js';

/** A task as the door hands it to the ledger. */
export function newTask(lane: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id: newId(),
    namespace: 'default',
    lane,
    capability: 'work',
    asked: null,
    payload: String(more.priority ?? 0),
    priority: 0,
    idempotent: false,
    affinityKey: null,
    parentTaskId: null,
    chain: null,
    retryOf: null,
    callbackUrl: null,
    traceparent: null,
    ackTimeoutMs: 5_000,
    executionTimeoutMs: 60_000,
    ownTimeout: true,
    maxAttempts: 3,
    delayMs: 0,
    runAt: null,
    expiresInMs: null,
    timeoutMs: null,
    key: null,
    bodyDigest: null,
    caller: 'c',
    ...more,
  };
}
