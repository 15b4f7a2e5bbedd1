/*
 * What travels between agents, callers and the centre (the REST bodies and answers).
 * Names and units are those of the wire: snake_case, milliseconds.
 */

export type TaskState =
  'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
export type TerminalState = 'succeeded' | 'failed' | 'canceled' | 'expired';
export type AgentState = 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
export type Blame = 'dependency' | 'agent' | 'network' | 'caller' | 'platform';
export type DependencyType =
  'http' | 'tcp' | 'postgres' | 'mysql' | 'redis' | 'nats' | 'agent' | 'mcp' | 'a2a';

type Json = unknown;
type JsonObject = Record<string, unknown>;

export interface CapabilityDeclaration {
  name: string;
  version?: string;
  description?: string;
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  fallbacks?: string[];
}

export interface DependencyDeclaration {
  name: string;
  type: DependencyType;
  target?: string;
  critical?: boolean;
  timeout_ms?: number;
}

export interface CapacityReport {
  queued?: number;
  pool_usage?: number;
  avg_task_ms?: number;
  in_flight?: number;
  loop_delay_ms?: number;
}

export interface RegisterRequest {
  namespace?: string;
  agent_id: string;
  name?: string;
  capabilities: (string | CapabilityDeclaration)[];
  dependencies?: DependencyDeclaration[];
  transport?: 'pull' | 'session' | 'push';
  endpoint?: string;
  heartbeat_interval_ms?: number;
  lease_ttl_ms?: number;
  capacity?: CapacityReport;
  max_concurrency?: number;
  weight?: number;
  tags?: string[];
  metadata?: JsonObject;
}

export interface RegisterAnswer {
  agent_id: string;
  namespace: string;
  lease_id: string;
  lease_ttl_ms: number;
  heartbeat_interval_ms: number;
  state: AgentState;
  superseded_lease_id?: string;
  warnings: string[];
}

export interface StaleDelivery {
  delivery_id: string;
  reason: string;
}

export interface LeaseAnswer {
  lease_ttl_ms: number;
  state: AgentState;
  drain: boolean;
  stale: StaleDelivery[];
}

export interface RemovalAnswer {
  agent_id: string;
  state: AgentState;
  drain_until: string;
}

export interface Offer {
  delivery_id: string;
  task_id: string;
  attempt: number;
  fence: number;
  capability: string;
  payload: Json;
  ack_deadline: string;
  execution_timeout_ms: number;
  idempotent: boolean;
  traceparent?: string;
  parent_task_id?: string;
}

/** Answer to one operation; `error` is absent when the operation took effect (or had already). */
export interface OperationAnswer {
  delivery_id: string;
  execute?: boolean;
  reason?: string;
  deadline?: string;
  state?: string;
  error?: { code: string; detail: string };
}

export interface Constraints {
  version?: string;
  tags?: string[];
  zone?: string;
  exclude?: string[];
}

export interface TaskRequest {
  namespace?: string;
  /** `name` or `name@range`. One of capability, capabilities, agent_id, name is needed. */
  capability?: string;
  capabilities?: string[];
  agent_id?: string;
  name?: string;
  payload?: Json;
  /** -100 to 100; higher goes first. */
  priority?: number;
  /** true: running it twice is harmless, so it may be retried after it may have started. */
  idempotent?: boolean;
  ack_timeout_ms?: number;
  execution_timeout_ms?: number;
  expires_in_ms?: number;
  delay_ms?: number;
  run_at?: string;
  max_attempts?: number;
  constraints?: Constraints;
  affinity_key?: string;
  parent_task_id?: string;
  callback_url?: string;
  idempotency_key?: string;
}

export interface TaskAccepted {
  task_id: string;
  state: TaskState;
  /** true: the idempotency key named this task already. */
  deduplicated: boolean;
}

export interface ItemProblem {
  code: string;
  detail: string;
  retryable: boolean;
}

export interface TaskBatchAnswer {
  /** One answer per task, in order. */
  results: (TaskAccepted | { error: ItemProblem })[];
  accepted: number;
  rejected: number;
}

export interface Delivery {
  delivery_id: string;
  attempt: number;
  fence: number;
  agent_id: string;
  transport: string;
  state: 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'released';
  code?: string;
  offered_at: string;
  acked_at?: string;
  finished_at?: string;
  deadline_at?: string;
}

export interface TaskError {
  code: string;
  message: string;
  retryable: boolean;
  agent_id?: string;
  raw_error?: Json;
}

export interface Task {
  task_id: string;
  namespace: string;
  state: TaskState;
  capability: string;
  requirement: JsonObject;
  priority: number;
  idempotent: boolean;
  attempt: number;
  max_attempts: number;
  agent_id?: string;
  created_at: string;
  run_at: string;
  expires_at?: string;
  finished_at?: string;
  parent_task_id?: string;
  retry_of?: string;
  progress?: Json;
  result?: Json;
  meta?: Json;
  error?: TaskError;
}

export interface TaskDetail extends Task {
  payload: Json;
  deliveries: Delivery[];
}

export interface Page<T> {
  items: T[];
  next_cursor?: string;
}

export interface CancelAnswer {
  task_id: string;
  state: TaskState;
  /** true: this call canceled it; false: it had ended before. */
  canceled: boolean;
}

export interface RetryAnswer {
  task_id: string;
  retry_of: string;
  state: TaskState;
}

export interface BulkRetryRequest {
  namespace?: string;
  state?: TerminalState;
  capability?: string;
  code?: string;
  since?: string;
  until?: string;
  limit?: number;
  dry_run?: boolean;
}

export interface BulkRetryAnswer {
  matched: number;
  retried: RetryAnswer[];
  dry_run: boolean;
}

export interface AgentView {
  namespace: string;
  agent_id: string;
  name: string;
  capabilities: ({ name: string; version?: string } & JsonObject)[];
  dependencies: JsonObject[];
  transport: string;
  endpoint?: string;
  state: AgentState;
  state_reason: string;
  state_since: string;
  max_concurrency: number;
  in_flight: number;
  weight: number;
  tags: string[];
  metadata: JsonObject;
  heartbeat_interval_ms: number;
  last_heartbeat_at: string;
  lease_expires_at: string;
  capacity: CapacityReport | null;
  registered_at: string;
  removed_at?: string;
}

export interface AgentTransition {
  at: string;
  from_state: AgentState | null;
  to_state: AgentState;
  reason: string;
  facts: JsonObject;
}

export interface AgentDetail extends AgentView {
  history: AgentTransition[];
}

export interface Capability {
  namespace: string;
  capability: string;
  agents: number;
  reachable: number;
  paused: boolean;
  pause_reason?: string;
}

export interface Attribution {
  attribution_id: string;
  namespace: string;
  task_id: string;
  delivery_id?: string;
  attempt: number;
  final: boolean;
  stage: string;
  code: string;
  blame: Blame;
  agent_id?: string;
  dependency?: string;
  capability: string;
  message: string;
  evidence: JsonObject;
  at: string;
}

export interface AttributionSummary {
  group_by: string;
  groups: { key: string | null; attempts: number; tasks: number; last_at: string }[];
}

export interface StoryEntry {
  position: number;
  at: string;
  kind: string;
  text: string;
  delivery_id?: string;
  agent_id?: string;
  data?: JsonObject;
}

export interface Explanation {
  task_id: string;
  state: string;
  headline: string;
  story: StoryEntry[];
  attributions: Attribution[];
}
