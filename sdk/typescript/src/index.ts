export { Agent } from './agent.js';
export type {
  AgentEvents,
  AgentOptions,
  RunOptions,
  StartOptions,
  StopOptions,
  StopReason,
} from './agent-options.js';
export { Client, isTerminal } from './client.js';
export type {
  AgentFilter,
  AttributionFilter,
  ClientOptions,
  EnqueueOptions,
  InNamespace,
  TaskFilter,
  WaitOptions,
} from './client-options.js';
export { MemoryDedup } from './dedup.js';
export type { Claim, DedupDelivery, DedupStore, WorkEnd } from './dedup.js';
export type { Progress, TaskContext } from './context.js';
export {
  AgentRefused,
  ReachApiError,
  ReachConnectionError,
  ReachTaskError,
  ReachTimeoutError,
  TaskFailed,
  WorkAborted,
} from './errors.js';
export type { FieldError, Problem, TaskFailure } from './errors.js';
export type { Handler, IncomingTask } from './handlers.js';
export type { Logger } from './logger.js';
export { loadManifest, ManifestError, parseManifest } from './manifest.js';
export type { Manifest, ManifestProblem } from './manifest.js';
export type { ProbeTool } from './probe-tool.js';
export type { PushHandler } from './push.js';
export { RedisDedup } from './redis-dedup.js';
export type { RedisClient, RedisDedupOptions } from './redis-dedup.js';
export type {
  AgentDetail,
  AgentState,
  AgentTransition,
  AgentView,
  Attribution,
  AttributionSummary,
  Blame,
  BulkRetryAnswer,
  BulkRetryRequest,
  CancelAnswer,
  Capability,
  CapabilityAlias,
  CapabilityDeclaration,
  CapabilityDetail,
  CapacityReport,
  Constraints,
  Decision,
  Delivery,
  DependencyDeclaration,
  DependencyType,
  EffectivePolicy,
  Explanation,
  ItemProblem,
  Page,
  PolicySettings,
  PolicyVersion,
  Schedule,
  ScheduleDetail,
  ScheduleFiring,
  ScheduleRequest,
  RemovalAnswer,
  RetryAnswer,
  SimulateAnswer,
  SimulateRequest,
  StoryEntry,
  Task,
  TaskAccepted,
  TaskBatchAnswer,
  TaskDetail,
  TaskError,
  TaskRequest,
  TaskState,
  TerminalState,
} from './wire.js';
