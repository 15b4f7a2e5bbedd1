import { type components } from './generated/api.js';

/*
 * What travels between agents, callers and the centre, named as in the API description. Names and units are
 * those of the wire: snake_case, milliseconds.
 */

type Schemas = components['schemas'];

export type RegisterRequest = Schemas['RegisterRequest'];
export type RegisterAnswer = Schemas['RegisterAnswer'];
export type LeaseAnswer = Schemas['LeaseAnswer'];
export type RemovalAnswer = Schemas['RemovalAnswer'];
export type Offer = Schemas['Offer'];
export type OperationAnswer = Schemas['OperationAnswer'];
export type TaskRequest = Schemas['TaskRequest'];
export type TaskAccepted = Schemas['TaskAccepted'];
export type ItemProblem = Schemas['ItemProblem'];
export type TaskBatchAnswer = Schemas['TaskBatchAnswer'];
export type Task = Schemas['Task'];
export type TaskDetail = Schemas['TaskDetail'];
export type TaskError = Schemas['TaskError'];
export type Delivery = Schemas['Delivery'];
export type CancelAnswer = Schemas['CancelAnswer'];
export type RetryAnswer = Schemas['RetryAnswer'];
export type BulkRetryRequest = Schemas['BulkRetryRequest'];
export type BulkRetryAnswer = Schemas['BulkRetryAnswer'];
export type AgentView = Schemas['Agent'];
export type AgentDetail = Schemas['AgentDetail'];
export type AgentTransition = Schemas['AgentTransition'];
export type Capability = Schemas['Capability'];
export type CapabilityDetail = Schemas['CapabilityDetail'];
export type CapabilityAlias = Schemas['CapabilityAlias'];
export type PolicySettings = Schemas['PolicySettings'];
export type PolicyVersion = Schemas['PolicyVersion'];
export type ScheduleRequest = Omit<Schemas['ScheduleRequest'], 'namespace'>;
export type Schedule = Schemas['Schedule'];
export type ScheduleDetail = Schemas['ScheduleDetail'];
export type ScheduleFiring = Schemas['ScheduleFiring'];
export type Decision = Schemas['Decision'];
export type SimulateRequest = Schemas['SimulateRequest'];
export type SimulateAnswer = Schemas['SimulateAnswer'];
export type EffectivePolicy = Schemas['EffectivePolicy'];
export type Attribution = Schemas['Attribution'];
export type AttributionSummary = Schemas['AttributionSummary'];
export type StoryEntry = Schemas['StoryEntry'];
export type Explanation = Schemas['Explanation'];

export type TaskState = Task['state'];
export type TerminalState = Extract<TaskState, 'succeeded' | 'failed' | 'canceled' | 'expired'>;
export type AgentState = AgentView['state'];
export type Blame = Attribution['blame'];
export type StaleDelivery = LeaseAnswer['stale'][number];
export type CapacityReport = NonNullable<AgentView['capacity']>;
export type Constraints = NonNullable<TaskRequest['constraints']>;
export type CapabilityDeclaration = Exclude<RegisterRequest['capabilities'][number], string>;
export type DependencyDeclaration = NonNullable<RegisterRequest['dependencies']>[number];
export type DependencyType = DependencyDeclaration['type'];

/** A page of a list; `next_cursor` is absent on the last one. */
export interface Page<T> {
  items: T[];
  next_cursor?: string;
}
