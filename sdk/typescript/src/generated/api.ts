/* Generated from openapi.json by `npm run generate`; do not edit. */

export interface paths {
  '/api/v1/agent/deregister': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Leave: no new work, a drain time for what is held */
    post: operations['agentsDeregister'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agent/lease': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Renew the lease and report capacity */
    post: operations['deliveriesLease'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agent/register': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Register an agent and get its lease */
    post: operations['agentsRegister'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List agents */
    get: operations['agentsList'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One agent with the facts behind its state, what it did of late, and its history */
    get: operations['agentsOne'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}/drain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Drain an agent, as an operator */
    post: operations['agentsDrain'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}/hold': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Hold an agent out of service, as an operator */
    post: operations['agentsHold'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{agent_id}/release': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** End a hold: the agent gets work again as its state allows */
    post: operations['agentsRelease'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/aliases': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Other names of capabilities */
    get: operations['aliasesList'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/aliases/{alias}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /** Take a name as another one from now on, of tasks and of agents */
    put: operations['aliasesWrite'];
    post?: never;
    /** Forget an alias; tasks that were taken by it keep the capability */
    delete: operations['aliasesRemove'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/attributions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Why attempts and tasks failed, newest first */
    get: operations['observatoryList'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/attributions/summary': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Failures counted by code, blame, agent, dependency, capability or stage */
    get: operations['observatorySummary'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/capabilities': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Who offers what, and what is paused */
    get: operations['capabilitiesList'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/capabilities/{capability}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One capability by any of its names: versions, schemas, who offers it */
    get: operations['capabilitiesOne'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/capabilities/{capability}/pause': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Pause: tasks are taken and wait */
    post: operations['capabilitiesPause'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/capabilities/{capability}/resume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Resume what was paused */
    post: operations['capabilitiesResume'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/deliveries/batch': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Many operations in one call; each is answered on its own */
    post: operations['deliveriesBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/deliveries/claim': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Take offers: a long poll that ends when work comes */
    post: operations['deliveriesClaim'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/deliveries/{delivery_id}/ack': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Acknowledge: only execute: true lets the agent begin */
    post: operations['deliveriesAck'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/deliveries/{delivery_id}/complete': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Report the result */
    post: operations['deliveriesComplete'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/deliveries/{delivery_id}/fail': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Report a failure */
    post: operations['deliveriesFail'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/deliveries/{delivery_id}/progress': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Note progress, extend the deadline */
    post: operations['deliveriesProgress'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['feedEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/outcomes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** What became of calls that the caller made itself; they count as deliveries do */
    post: operations['routeOutcomes'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/policies': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The policies of a namespace, by capability */
    get: operations['policiesList'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/policies/{capability}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What holds for a capability, and the last versions of its policy */
    get: operations['policiesRead'];
    /** Replace the policy of a capability; it holds from the next choice on */
    put: operations['policiesWrite'];
    post?: never;
    /** Remove the policy of a capability: that of the namespace holds again */
    delete: operations['policiesRemove'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/probe/budget': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What probing costs, with the arithmetic */
    get: operations['probeBudget'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/route/simulate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Who would get such a task now, and why nobody else; nothing is delivered */
    post: operations['routeSimulate'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/route/{capability}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Whom to call for a capability, for callers that call agents themselves */
    get: operations['routeRoute'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/schedules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List schedules, by id */
    get: operations['schedulesList'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/schedules/{schedule_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One schedule, with its next fire times and what came of the last ones */
    get: operations['schedulesOne'];
    /** Create or replace a schedule */
    put: operations['schedulesWrite'];
    post?: never;
    /** Remove a schedule, with the record of its firings; its tasks go on */
    delete: operations['schedulesRemove'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/schedules/{schedule_id}/pause': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Pause: what passes until it is resumed does not fire */
    post: operations['schedulesPause'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/schedules/{schedule_id}/resume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Go on with the next fire time */
    post: operations['schedulesResume'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/schedules/{schedule_id}/trigger': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Fire now, beside its times */
    post: operations['schedulesTrigger'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List tasks, newest first */
    get: operations['tasksList'];
    put?: never;
    /** Store a task; it will reach exactly one terminal state */
    post: operations['tasksSubmit'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/batch': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Store many tasks; each is accepted or refused on its own */
    post: operations['tasksSubmitBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Submit ended tasks anew, as new tasks */
    post: operations['tasksRetryMany'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/{task_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One task with its result or error; wait_ms waits for its end */
    get: operations['tasksOne'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/{task_id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Cancel a task that has not ended */
    post: operations['tasksCancel'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/{task_id}/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['observatoryEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/{task_id}/explain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The whole story of a task */
    get: operations['observatoryExplain'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tasks/{task_id}/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Submit an ended task anew, as a new task */
    post: operations['tasksRetry'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/tokens/introspect': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Whether a task token holds: its delivery runs at this moment */
    post: operations['tokensIntrospect'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AckAnswer:
      | {
          /** @enum {boolean} */
          execute: true;
          /**
           * Format: date-time
           * @description RFC 3339, UTC
           */
          deadline: string;
        }
      | {
          /** @enum {boolean} */
          execute: false;
          /** @description a REACH_ code */
          reason: string;
        };
    AckRequest: {
      /** Format: uuid */
      lease_id: string;
    };
    Agent: {
      namespace: string;
      agent_id: string;
      name: string;
      capabilities: ({
        name: string;
        version?: string;
      } & {
        [key: string]: unknown;
      })[];
      dependencies: {
        [key: string]: unknown;
      }[];
      transport: string;
      endpoint?: string;
      /** @description What registered it on its behalf: consul or nacos. */
      source?: string;
      /** @enum {string} */
      state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      state_reason: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      state_since: string;
      max_concurrency: number;
      /** @description deliveries offered to or running at the agent now */
      in_flight: number;
      weight: number;
      tags: string[];
      metadata: {
        [key: string]: unknown;
      };
      heartbeat_interval_ms: number;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      last_heartbeat_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      lease_expires_at: string;
      capacity: {
        queued?: number;
        /** @description share of the pool in use, 0 to 1 */
        pool_usage?: number;
        avg_task_ms?: number;
        in_flight?: number;
        loop_delay_ms?: number;
      } | null;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      registered_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      removed_at?: string;
      /** @description It failed of late and gets less work, or none, as the answering replica saw it. Absent: its usual work. */
      breaker?: {
        /**
         * @description open: no work; half_open: a few trials; recovering: a part of its usual work
         * @enum {string}
         */
        phase: 'open' | 'half_open' | 'recovering';
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since: string;
        /** @description of an open one: what it failed at, and when it is tried again */
        cause?: string;
        /** @description how many tasks it may hold for now */
        slots: number;
      };
      /** @description An operator holds it out of service; its state is judged all the same. */
      held?: {
        reason: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since: string;
      };
    };
    AgentDetail: {
      namespace: string;
      agent_id: string;
      name: string;
      capabilities: ({
        name: string;
        version?: string;
      } & {
        [key: string]: unknown;
      })[];
      dependencies: {
        [key: string]: unknown;
      }[];
      transport: string;
      endpoint?: string;
      /** @description What registered it on its behalf: consul or nacos. */
      source?: string;
      /** @enum {string} */
      state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      state_reason: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      state_since: string;
      max_concurrency: number;
      /** @description deliveries offered to or running at the agent now */
      in_flight: number;
      weight: number;
      tags: string[];
      metadata: {
        [key: string]: unknown;
      };
      heartbeat_interval_ms: number;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      last_heartbeat_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      lease_expires_at: string;
      capacity: {
        queued?: number;
        /** @description share of the pool in use, 0 to 1 */
        pool_usage?: number;
        avg_task_ms?: number;
        in_flight?: number;
        loop_delay_ms?: number;
      } | null;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      registered_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      removed_at?: string;
      /** @description It failed of late and gets less work, or none, as the answering replica saw it. Absent: its usual work. */
      breaker?: {
        /**
         * @description open: no work; half_open: a few trials; recovering: a part of its usual work
         * @enum {string}
         */
        phase: 'open' | 'half_open' | 'recovering';
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since: string;
        /** @description of an open one: what it failed at, and when it is tried again */
        cause?: string;
        /** @description how many tasks it may hold for now */
        slots: number;
      };
      /** @description An operator holds it out of service; its state is judged all the same. */
      held?: {
        reason: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since: string;
      };
      facts: components['schemas']['AgentFacts'];
      /** @description The last ten minutes, as the answering replica saw them. */
      windows: {
        probes?: components['schemas']['AgentWindow'];
        work?: components['schemas']['AgentWindow'];
      };
      history: components['schemas']['AgentTransition'][];
    };
    /** @description What the state was judged from. */
    AgentFacts: {
      /** @enum {string} */
      lease: 'live' | 'ended';
      /** @enum {string} */
      heartbeat: 'fresh' | 'missed' | 'dead';
      /** @enum {string} */
      session: 'open' | 'broken' | 'none';
      leaving: boolean;
      echo: {
        /**
         * @description unknown: not probed; suspect: a failure is being confirmed; bad: enough failed running
         * @enum {string}
         */
        standing: 'unknown' | 'good' | 'suspect' | 'bad';
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since?: string;
        /** @description failures running */
        failures: number;
        /** @description good probes running */
        successes: number;
        /** @description kind of the latest failure, until it is good again */
        fault?: string;
        detail?: string;
        /** @description of the latest good answer */
        latency_ms?: number;
        slow?: boolean;
      };
      dependencies: {
        name: string;
        type: string;
        critical: boolean;
        /**
         * @description unknown: not probed; suspect: a failure is being confirmed; bad: enough failed running
         * @enum {string}
         */
        standing: 'unknown' | 'good' | 'suspect' | 'bad';
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since?: string;
        /** @description failures running */
        failures: number;
        /** @description good probes running */
        successes: number;
        /** @description kind of the latest failure, until it is good again */
        fault?: string;
        detail?: string;
        /** @description of the latest good answer */
        latency_ms?: number;
        slow?: boolean;
      }[];
      /** @description Absent: the agent cannot be warmed up, and counts as warm. */
      warm_up?: {
        passed: boolean;
        good: number;
        needed: number;
        mean_ms?: number;
        /** @description it passed although it stayed slower than its group */
        slow?: boolean;
      };
    };
    AgentPage: {
      items: components['schemas']['ListedAgent'][];
      next_cursor?: string;
    };
    AgentTransition: {
      /**
       * @description hold, release: an operator’s order, which leaves the state as it is
       * @enum {string}
       */
      kind: 'transition' | 'hold' | 'release';
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      at: string;
      from_state: ('online' | 'degraded' | 'suspicious' | 'offline' | 'removing') | null;
      /** @enum {string} */
      to_state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      reason: string;
      facts: {
        [key: string]: unknown;
      };
      /** @description What was observed; of an order, who gave it (`by`). */
      evidence: {
        [key: string]: unknown;
      };
    };
    AgentWindow: {
      samples: number;
      /** @description 0 to 1, recent results weighing more */
      success_rate: number;
      p50_ms?: number;
      p95_ms?: number;
      consecutive_failures: number;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      last_activity_at: string;
      /** @description nothing for over 30 s */
      silent: boolean;
      /** @description 0 to 1 */
      score: number;
    };
    Attribution: {
      /** Format: uuid */
      attribution_id: string;
      namespace: string;
      /** Format: uuid */
      task_id: string;
      delivery_id?: string;
      attempt: number;
      /** @description true: this row also ended the task */
      final: boolean;
      /** @enum {string} */
      stage: 'admission' | 'placement' | 'offer' | 'execution' | 'result';
      code: string;
      /** @enum {string} */
      blame: 'dependency' | 'agent' | 'network' | 'caller' | 'platform';
      agent_id?: string;
      dependency?: string;
      capability: string;
      message: string;
      evidence: {
        [key: string]: unknown;
      };
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      at: string;
    };
    AttributionPage: {
      items: components['schemas']['Attribution'][];
      next_cursor?: string;
    };
    AttributionSummary: {
      /** @enum {string} */
      group_by: 'code' | 'blame' | 'agent_id' | 'dependency' | 'capability' | 'stage';
      groups: {
        key: string | null;
        attempts: number;
        tasks: number;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        last_at: string;
      }[];
    };
    BulkRetryAnswer: {
      matched: number;
      retried: components['schemas']['RetryAnswer'][];
      failed: {
        /** Format: uuid */
        retry_of: string;
        error: components['schemas']['ItemProblem'];
      }[];
      dry_run: boolean;
    };
    BulkRetryRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      /**
       * @default failed
       * @enum {string}
       */
      state?: 'succeeded' | 'failed' | 'canceled' | 'expired';
      capability?: string;
      code?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      since?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      until?: string;
      /** @default 100 */
      limit?: number;
      /** @default false */
      dry_run?: boolean;
    };
    CancelAnswer: {
      /** Format: uuid */
      task_id: string;
      /** @enum {string} */
      state: 'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
      /** @description true: this call canceled it; false: it had ended before */
      canceled: boolean;
    };
    Capability: {
      namespace: string;
      capability: string;
      agents: number;
      /** @description agents that could be offered work now */
      reachable: number;
      paused: boolean;
      pause_reason?: string;
    };
    CapabilityAlias: {
      namespace: string;
      alias: string;
      capability: string;
      changed_by: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      changed_at: string;
    };
    CapabilityAliasPage: {
      items: components['schemas']['CapabilityAlias'][];
      next_cursor?: string;
    };
    CapabilityAliasRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      capability: string;
    };
    CapabilityDetail: {
      namespace: string;
      capability: string;
      agents: number;
      /** @description agents that could be offered work now */
      reachable: number;
      paused: boolean;
      pause_reason?: string;
      aliases: string[];
      /** @description what agents declare to do instead (their `fallbacks`); a policy decides */
      equivalents: string[];
      /** @description as declared; of one version, by the agent that registered last */
      versions: {
        version?: string;
        agents: string[];
        description?: string;
        input_schema?: {
          [key: string]: unknown;
        };
        output_schema?: {
          [key: string]: unknown;
        };
      }[];
    };
    CapabilityList: {
      items: components['schemas']['Capability'][];
    };
    /**
     * @default {
     *       "namespace": "default",
     *       "reason": ""
     *     }
     */
    CapabilitySwitchRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      /** @default  */
      reason?: string;
    };
    ClaimAnswer: {
      deliveries: components['schemas']['Offer'][];
    };
    ClaimRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      agent_id: string;
      /** Format: uuid */
      lease_id: string;
      /** @default 1 */
      max?: number;
      /** @default 0 */
      wait_ms?: number;
    };
    CompleteRequest: {
      /** Format: uuid */
      lease_id: string;
      /**
       * @description any JSON value
       * @default null
       */
      outputs?: unknown;
      meta?: {
        [key: string]: unknown;
      };
    };
    Decision: {
      /**
       * @description by score and strategy, or by the affinity key of the task
       * @enum {string}
       */
      by: 'selection' | 'affinity';
      /** @enum {string} */
      strategy?: 'best' | 'weighted_random' | 'weighted_round_robin' | 'power_of_two' | 'least_watermark';
      /** @description agents there were to choose from */
      eligible: number;
      /** @description true: nobody was in good standing, so breakers limited nobody */
      panic?: boolean;
      /** @description where it follows from how long the agent took of late for this kind of work */
      execution_timeout?: {
        ms: number;
        p95_ms: number;
        calls: number;
        factor: number;
        /** @description the same in words */
        text: string;
      };
      /** @description at most ten of them */
      compared: {
        agent_id: string;
        /** @description 0 to 1; the sum of its parts */
        score?: number;
        parts?: {
          [key: string]: number;
        };
        /** @description 0 to 1; absent where it did nothing of late */
        success_rate?: number;
        p50_ms?: number;
        p95_ms?: number;
        /** @description since its last sign of life */
        idle_ms?: number;
        consecutive_failures: number;
        in_flight: number;
        /** @description slots it might use then: while it comes back from failures fewer than it declared */
        max_concurrency: number;
        weight: number;
        /** @description true: it is coming back from failures */
        throttled?: boolean;
        chosen: boolean;
      }[];
      rejected: {
        /** @description how many by each filter */
        counts: {
          [key: string]: number;
        };
        /** @description at most ten of them */
        named: {
          agent_id: string;
          /** @enum {string} */
          filter:
            | 'namespace'
            | 'address'
            | 'capability'
            | 'version'
            | 'tags'
            | 'zone'
            | 'excluded'
            | 'call_chain'
            | 'endpoint'
            | 'state'
            | 'held'
            | 'critical_dependency'
            | 'breaker'
            | 'warm_up'
            | 'capacity';
          reason: string;
        }[];
      };
    };
    Delivery: {
      /** @description Names one delivery of one task; opaque. */
      delivery_id: string;
      attempt: number;
      fence: number;
      agent_id: string;
      transport: string;
      /** @enum {string} */
      state: 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'released';
      code?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      offered_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      acked_at?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      finished_at?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      deadline_at?: string;
      /** @description why it went to this agent */
      decision?: components['schemas']['Decision'];
    };
    DeliveryBatchAnswer: {
      answers: components['schemas']['OperationAnswer'][];
    };
    DeliveryBatchRequest: {
      /** Format: uuid */
      lease_id: string;
      operations: components['schemas']['DeliveryOperation'][];
    };
    DeliveryOperation:
      | {
          /** @enum {string} */
          op: 'ack';
          /** @description Names one delivery of one task; opaque. */
          delivery_id: string;
        }
      | {
          /** @enum {string} */
          op: 'progress';
          /** @description Names one delivery of one task; opaque. */
          delivery_id: string;
          extend_ms?: number;
          note?: string;
        }
      | {
          /** @enum {string} */
          op: 'complete';
          /** @description Names one delivery of one task; opaque. */
          delivery_id: string;
          /**
           * @description any JSON value
           * @default null
           */
          outputs?: unknown;
          meta?: {
            [key: string]: unknown;
          };
        }
      | {
          /** @default AGENT_ERROR */
          code?: string;
          /** @default  */
          message?: string;
          retryable?: boolean;
          /** @description the dependency that failed, if one did */
          dependency?: string;
          /** @description any JSON value */
          raw_error?: unknown;
          /** @enum {string} */
          op: 'fail';
          /** @description Names one delivery of one task; opaque. */
          delivery_id: string;
        };
    Dependency:
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'http';
          /** Format: uri */
          target?: string;
          /**
           * @description Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /**
             * @default GET
             * @enum {string}
             */
            method?: 'GET' | 'HEAD' | 'POST' | 'OPTIONS';
            /** @default {} */
            headers?: {
              [key: string]: string;
            };
            body?: string;
            /** @default {} */
            expect?: {
              /** @description Statuses that are good; the default is every 2xx. */
              status?: number[];
              body_contains?: string;
              /** @description Fields that the JSON of the answer must have with these values, among others. */
              json?: {
                [key: string]: unknown;
              };
            };
            /** @description Header that carries the credential; the default is Authorization. */
            credential_header?: string;
            /**
             * @description What stands before the credential; `basic`: it is user:password. The default is bearer in Authorization, none elsewhere.
             * @enum {string}
             */
            credential_scheme?: 'bearer' | 'basic' | 'none';
            /** @description Query parameter that carries the credential, where no header can. */
            credential_query?: string;
            /**
             * @description `insecure` takes any certificate.
             * @default verify
             * @enum {string}
             */
            tls?: 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'tcp';
          /** @example mail.internal:25 */
          target?: string;
          /** @default {} */
          options?: {
            /**
             * @description `insecure` takes any certificate.
             * @enum {string}
             */
            tls?: 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'postgres';
          /** @example postgres://user@host:5432/database */
          target?: string;
          /**
           * @description Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /**
             * @description `off`: no TLS; `insecure`: TLS with any certificate.
             * @default off
             * @enum {string}
             */
            tls?: 'off' | 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'mysql';
          /** @example mysql://user@host:3306/database */
          target?: string;
          /**
           * @description Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /**
             * @description `off`: no TLS; `insecure`: TLS with any certificate.
             * @default off
             * @enum {string}
             */
            tls?: 'off' | 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'redis';
          /** @example redis://host:6379/0 */
          target?: string;
          /**
           * @description Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /**
             * @description `insecure` takes any certificate.
             * @default verify
             * @enum {string}
             */
            tls?: 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'nats';
          /** @example nats://host:4222 */
          target?: string;
          /**
           * @description A token, the password of the user in the target, an nkey seed, or the text of a .creds file.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /**
             * @description `insecure` takes any certificate.
             * @default verify
             * @enum {string}
             */
            tls?: 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'agent';
          /** @description Id of an agent, or the name of a group: then one instance that works is enough. */
          target?: string;
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'mcp';
          /** Format: uri */
          target?: string;
          /**
           * @description Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /** @default {} */
            headers?: {
              [key: string]: string;
            };
            /** @description Header that carries the credential; the default is Authorization. */
            credential_header?: string;
            /**
             * @description What stands before the credential; `basic`: it is user:password. The default is bearer in Authorization, none elsewhere.
             * @enum {string}
             */
            credential_scheme?: 'bearer' | 'basic' | 'none';
            /**
             * @description `insecure` takes any certificate.
             * @default verify
             * @enum {string}
             */
            tls?: 'verify' | 'insecure';
          };
        }
      | {
          name: string;
          /** @default false */
          critical?: boolean;
          /** @default 5000 */
          timeout_ms?: number;
          /** @description An answer that takes longer counts as slow; the default is half of timeout_ms. */
          slow_ms?: number;
          /** @enum {string} */
          type: 'a2a';
          /**
           * Format: uri
           * @description The agent, or its card: to a URL that does not end in .json, /.well-known/agent-card.json is added.
           */
          target?: string;
          /**
           * @description Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.
           * @example env:REACH_CREDENTIAL_SEARCH
           */
          credential?: string;
          /** @default {} */
          options?: {
            /** @default {} */
            headers?: {
              [key: string]: string;
            };
            /** @description Header that carries the credential; the default is Authorization. */
            credential_header?: string;
            /**
             * @description What stands before the credential; `basic`: it is user:password. The default is bearer in Authorization, none elsewhere.
             * @enum {string}
             */
            credential_scheme?: 'bearer' | 'basic' | 'none';
            /**
             * @description `insecure` takes any certificate.
             * @default verify
             * @enum {string}
             */
            tls?: 'verify' | 'insecure';
          };
        };
    DeregisterRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      agent_id: string;
      /** Format: uuid */
      lease_id: string;
      drain_ms?: number;
    };
    /** @default {} */
    DrainRequest: {
      drain_ms?: number;
    };
    EffectivePolicy: {
      namespace: string;
      capability: string;
      settings: {
        /** @description a preset, or own weights (0 where left out): what counts is their proportion */
        score:
          | {
              /** @enum {string} */
              preset: 'reach' | 'dispatch' | 'connect';
            }
          | {
              weights: {
                success?: number;
                latency?: number;
                failures?: number;
                activity?: number;
                capacity?: number;
              };
            };
        /** @description the latency that is good enough; slower is late */
        target_latency_ms: number;
        /**
         * @description how one of the compared agents is chosen
         * @enum {string}
         */
        strategy: 'best' | 'weighted_random' | 'weighted_round_robin' | 'power_of_two' | 'least_watermark';
        /** @description whether agents that failed are used as if they had not, where nobody is in good standing */
        panic: boolean;
        /** @description when an agent that fails is left alone, and how it comes back */
        breaker: {
          /** @description the last calls, of which the share of errors is taken */
          window?: number;
          /** @description more than this opens it */
          errors_percent?: number;
          /** @description fewer calls make no share: then failures running decide */
          min_samples?: number;
          /** @description more failures running than this open it at once */
          consecutive?: number;
          /** @description how long the agent is left alone */
          open_ms?: number;
          /** @description calls that must succeed, one after the other, before it gets ordinary work */
          half_open_trials?: number;
          /** @description the part of its usual work that it gets at first */
          throttle_percent?: number;
          /** @description for so long */
          throttle_ms?: number;
        };
        /** @description for tasks that do not say it */
        ack_timeout_ms: number;
        /** @description for tasks that do not say it, while it is unknown how long their agent takes */
        execution_timeout_ms: number;
        /** @description how the execution timeout of tasks that do not say it follows from the P95 of their agent */
        timeouts: {
          /** @description always as long; not together with the others */
          fixed_ms?: number;
          /** @description so many times the P95 of the agent */
          factor?: number;
          min_ms?: number;
          max_ms?: number;
        };
        /** @description for tasks that do not say it */
        max_attempts: number;
        /** @description capabilities that do instead, the best first, where no agent with this one can be reached; none: tasks wait */
        fallback: string[];
        /** @description for so long none could be reached before tasks that waited as long go to a fallback, or fail */
        fallback_after_ms: number;
        /** @description who is told, by a webhook, of each task that goes to a fallback, or that fails as nobody can be reached for it; null: nobody */
        on_degrade: {
          /** Format: uri */
          url: string;
          /** @description of one try */
          timeout_ms?: number;
          /** @description tries, 5, 10, 20 ... s apart */
          max_attempts?: number;
        } | null;
        /**
         * @description what becomes of tasks that nobody can be reached for, for a fallback neither: they wait, or fail
         * @enum {string}
         */
        when_unreachable: 'wait' | 'fail';
      };
      /** @description of the policy of the capability; 0: there is none */
      version: number;
      /** @description of the policy of the namespace; 0: there is none */
      namespace_version: number;
      /** @description of the policy of the capability, newest first */
      versions: components['schemas']['PolicyVersion'][];
    };
    Explanation: {
      /** Format: uuid */
      task_id: string;
      state: string;
      /** @description one sentence a person can act on */
      headline: string;
      story: components['schemas']['StoryEntry'][];
      attributions: components['schemas']['Attribution'][];
    };
    FailRequest: {
      /** Format: uuid */
      lease_id: string;
      /** @default AGENT_ERROR */
      code?: string;
      /** @default  */
      message?: string;
      retryable?: boolean;
      /** @description the dependency that failed, if one did */
      dependency?: string;
      /** @description any JSON value */
      raw_error?: unknown;
    };
    /**
     * @default {
     *       "reason": ""
     *     }
     */
    HoldRequest: {
      /** @default  */
      reason?: string;
    };
    IntrospectAnswer:
      | {
          /** @enum {boolean} */
          active: true;
          iss: string;
          /** @description the task */
          sub: string;
          /** @description dependencies that the agent declared, by name */
          aud: string[];
          /** @description the delivery */
          jti: string;
          /** @description seconds since 1970 */
          exp: number;
          namespace: string;
          agent_id: string;
          capability: string;
        }
      | {
          /** @enum {boolean} */
          active: false;
        };
    IntrospectRequest: {
      token: string;
    };
    ItemProblem: {
      code: string;
      detail: string;
      retryable: boolean;
      /** @description how long to wait before it is sent again */
      retry_after_ms?: number;
    };
    LeaseAnswer: {
      lease_ttl_ms: number;
      /** @enum {string} */
      state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      /** @description true: finish what runs, take nothing new */
      drain: boolean;
      stale: {
        /** @description Names one delivery of one task; opaque. */
        delivery_id: string;
        /** @description Code that tells why it is no longer the agent’s, e.g. REACH_CANCELED */
        reason: string;
      }[];
    };
    LeaseRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      agent_id: string;
      /** Format: uuid */
      lease_id: string;
      capacity?: {
        queued?: number;
        /** @description share of the pool in use, 0 to 1 */
        pool_usage?: number;
        avg_task_ms?: number;
        in_flight?: number;
        loop_delay_ms?: number;
      };
      /** @description Deliveries the agent still works on; the answer names the stale ones. */
      running?: string[];
    };
    ListedAgent: {
      namespace: string;
      agent_id: string;
      name: string;
      capabilities: ({
        name: string;
        version?: string;
      } & {
        [key: string]: unknown;
      })[];
      dependencies: {
        [key: string]: unknown;
      }[];
      transport: string;
      endpoint?: string;
      /** @description What registered it on its behalf: consul or nacos. */
      source?: string;
      /** @enum {string} */
      state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      state_reason: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      state_since: string;
      max_concurrency: number;
      /** @description deliveries offered to or running at the agent now */
      in_flight: number;
      weight: number;
      tags: string[];
      metadata: {
        [key: string]: unknown;
      };
      heartbeat_interval_ms: number;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      last_heartbeat_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      lease_expires_at: string;
      capacity: {
        queued?: number;
        /** @description share of the pool in use, 0 to 1 */
        pool_usage?: number;
        avg_task_ms?: number;
        in_flight?: number;
        loop_delay_ms?: number;
      } | null;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      registered_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      removed_at?: string;
      /** @description It failed of late and gets less work, or none, as the answering replica saw it. Absent: its usual work. */
      breaker?: {
        /**
         * @description open: no work; half_open: a few trials; recovering: a part of its usual work
         * @enum {string}
         */
        phase: 'open' | 'half_open' | 'recovering';
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since: string;
        /** @description of an open one: what it failed at, and when it is tried again */
        cause?: string;
        /** @description how many tasks it may hold for now */
        slots: number;
      };
      /** @description An operator holds it out of service; its state is judged all the same. */
      held?: {
        reason: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        since: string;
      };
      /** @description Where they were asked for. */
      facts?: components['schemas']['AgentFacts'];
    };
    Offer: {
      /** @description Names one delivery of one task; opaque. */
      delivery_id: string;
      /** Format: uuid */
      task_id: string;
      attempt: number;
      fence: number;
      capability: string;
      /** @description any JSON value */
      payload: unknown;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      ack_deadline: string;
      execution_timeout_ms: number;
      /** @description of the whole task, as the offer was sent; pass it on as the timeout_ms of what you call for it */
      time_left_ms?: number;
      idempotent: boolean;
      traceparent?: string;
      /** Format: uuid */
      parent_task_id?: string;
      /** @description for the dependencies that the agent declared, to show them which task it works on; absent: it declared none */
      token?: string;
      /** @description nobody could be reached for what it asked for: it went to an equivalent */
      fallback_used?: {
        from: string;
        to: string;
        reason: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        at: string;
      };
    };
    OperationAnswer: {
      /** @description Names one delivery of one task; opaque. */
      delivery_id: string;
      execute?: boolean;
      reason?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      deadline?: string;
      /** @description for the dependencies that the agent declared, to show them which task it works on; absent: it declared none */
      token?: string;
      state?: string;
      error?: {
        code: string;
        detail: string;
      };
    };
    OutcomesAnswer: {
      counted: number;
      /** @description those that say nothing: no such agent, or not a capability of its */
      ignored: {
        position: number;
        reason: string;
      }[];
    };
    OutcomesRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      outcomes: {
        agent_id: string;
        /** @description one that the agent offers */
        capability: string;
        ok: boolean;
        took_ms: number;
        /**
         * @description of a failure; AGENT_ERROR unless told
         * @enum {string}
         */
        code?: 'AGENT_ERROR' | 'EXECUTION_TIMEOUT' | 'CONNECTION_FAILED' | 'DEPENDENCY_DOWN';
      }[];
    };
    PolicyPage: {
      items: components['schemas']['PolicyVersion'][];
      next_cursor?: string;
    };
    PolicyRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      settings: components['schemas']['PolicySettings'];
      /** @description write only where this version holds; 0: where there is none yet */
      if_version?: number;
    };
    PolicySettings: {
      /** @description a preset, or own weights (0 where left out): what counts is their proportion */
      score?:
        | {
            /** @enum {string} */
            preset: 'reach' | 'dispatch' | 'connect';
          }
        | {
            weights: {
              success?: number;
              latency?: number;
              failures?: number;
              activity?: number;
              capacity?: number;
            };
          };
      /** @description the latency that is good enough; slower is late */
      target_latency_ms?: number;
      /**
       * @description how one of the compared agents is chosen
       * @enum {string}
       */
      strategy?: 'best' | 'weighted_random' | 'weighted_round_robin' | 'power_of_two' | 'least_watermark';
      /** @description whether agents that failed are used as if they had not, where nobody is in good standing */
      panic?: boolean;
      /** @description when an agent that fails is left alone, and how it comes back */
      breaker?: {
        /** @description the last calls, of which the share of errors is taken */
        window?: number;
        /** @description more than this opens it */
        errors_percent?: number;
        /** @description fewer calls make no share: then failures running decide */
        min_samples?: number;
        /** @description more failures running than this open it at once */
        consecutive?: number;
        /** @description how long the agent is left alone */
        open_ms?: number;
        /** @description calls that must succeed, one after the other, before it gets ordinary work */
        half_open_trials?: number;
        /** @description the part of its usual work that it gets at first */
        throttle_percent?: number;
        /** @description for so long */
        throttle_ms?: number;
      };
      /** @description for tasks that do not say it */
      ack_timeout_ms?: number;
      /** @description for tasks that do not say it, while it is unknown how long their agent takes */
      execution_timeout_ms?: number;
      /** @description how the execution timeout of tasks that do not say it follows from the P95 of their agent */
      timeouts?: {
        /** @description always as long; not together with the others */
        fixed_ms?: number;
        /** @description so many times the P95 of the agent */
        factor?: number;
        min_ms?: number;
        max_ms?: number;
      };
      /** @description for tasks that do not say it */
      max_attempts?: number;
      /** @description capabilities that do instead, the best first, where no agent with this one can be reached; none: tasks wait */
      fallback?: string[];
      /** @description for so long none could be reached before tasks that waited as long go to a fallback, or fail */
      fallback_after_ms?: number;
      /** @description who is told, by a webhook, of each task that goes to a fallback, or that fails as nobody can be reached for it; null: nobody */
      on_degrade?: {
        /** Format: uri */
        url: string;
        /** @description of one try */
        timeout_ms?: number;
        /** @description tries, 5, 10, 20 ... s apart */
        max_attempts?: number;
      } | null;
      /**
       * @description what becomes of tasks that nobody can be reached for, for a fallback neither: they wait, or fail
       * @enum {string}
       */
      when_unreachable?: 'wait' | 'fail';
    };
    PolicyVersion: {
      namespace: string;
      capability: string;
      version: number;
      /** @description null: it was removed */
      settings: components['schemas']['PolicySettings'] | null;
      changed_by: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      changed_at: string;
    };
    ProbeBudget: {
      /** @description registered agents that are probed: neither offline nor removing */
      agents: number;
      declared_dependencies: number;
      /** @description what agents share is probed once */
      distinct_targets: number;
      /** @description probes of all replicas together */
      per_second: number;
      /** @description what it were if nothing was shared */
      unshared_per_second: number;
      rates: {
        /** @description a type of dependency, or echo, l1, l2, l3 */
        kind: string;
        targets: number;
        interval_ms: number;
        per_second: number;
      }[];
      /** @description the same as sentences */
      arithmetic: string[];
      sampling: {
        /** @description past 10 000 agents */
        active: boolean;
        full_targets: number;
        sampled_targets: number;
        sampled_interval_ms: number;
      };
      /** @description hosts with more targets than one probe a second can serve in the interval */
      crowded_hosts: {
        host: string;
        targets: number;
        interval_ms: number;
      }[];
      replicas: {
        replica_id: string;
        zone?: string;
        targets: number;
      }[];
      this_replica: {
        replica_id: string;
        targets: number;
        in_flight: number;
        /** @description factor on the intervals of its slowest shard; 1: it keeps up */
        stretch: number;
        /** @description why it doubts itself; verdicts are frozen meanwhile */
        doubt?: string;
      };
    };
    Problem: {
      type: string;
      title: string;
      status: number;
      detail: string;
      instance: string;
      /**
       * @description stable; made for programs
       * @example REACH_VALIDATION_FAILED
       */
      code: string;
      /** @description whether the same call may succeed later */
      retryable: boolean;
      trace_id: string;
      task_id?: string;
      attempt?: number;
      agent_id?: string;
      /** @description every bad place of the request, by JSON pointer */
      errors?: {
        pointer: string;
        detail: string;
      }[];
      retry_after_ms?: number;
    };
    ProgressAnswer: {
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      deadline: string;
      /** @description for the dependencies that the agent declared, to show them which task it works on; absent: it declared none */
      token?: string;
    };
    ProgressRequest: {
      /** Format: uuid */
      lease_id: string;
      /** @description the deadline becomes at least this long from now */
      extend_ms?: number;
      note?: string;
    };
    RegisterAnswer: {
      agent_id: string;
      namespace: string;
      /** Format: uuid */
      lease_id: string;
      lease_ttl_ms: number;
      heartbeat_interval_ms: number;
      /** @enum {string} */
      state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      /**
       * Format: uuid
       * @description The lease that this registration ended.
       */
      superseded_lease_id?: string;
      warnings: string[];
    };
    RegisterRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      agent_id: string;
      /** @description Logical agent; instances of one name form a group. */
      name?: string;
      capabilities: (
        | string
        | {
            name: string;
            version?: string;
            description?: string;
            input_schema?: {
              [key: string]: unknown;
            };
            output_schema?: {
              [key: string]: unknown;
            };
            fallbacks?: string[];
          }
      )[];
      /** @default [] */
      dependencies?: components['schemas']['Dependency'][];
      /**
       * @default pull
       * @enum {string}
       */
      transport?: 'pull' | 'session' | 'push';
      /** Format: uri */
      endpoint?: string;
      heartbeat_interval_ms?: number;
      lease_ttl_ms?: number;
      capacity?: {
        queued?: number;
        /** @description share of the pool in use, 0 to 1 */
        pool_usage?: number;
        avg_task_ms?: number;
        in_flight?: number;
        loop_delay_ms?: number;
      };
      /** @default 1 */
      max_concurrency?: number;
      /** @default 100 */
      weight?: number;
      /** @default [] */
      tags?: string[];
      /** @default {} */
      metadata?: {
        [key: string]: unknown;
      };
      /**
       * @description "echo": it answers echo frames in its session, and is warmed up by them.
       * @default []
       */
      features?: string[];
      /**
       * Format: uuid
       * @description The id of the new lease, chosen by the agent: the same call asked again is known by it.
       */
      lease_id?: string;
      /**
       * Format: uuid
       * @description Register only if this is the last lease of the agent: for a process that lost its lease and must not displace another that took over meanwhile (409 REACH_LEASE_SUPERSEDED).
       */
      replaces_lease_id?: string;
    };
    RemovalAnswer: {
      agent_id: string;
      /** @enum {string} */
      state: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      drain_until: string;
    };
    ResultAnswer: {
      /** Format: uuid */
      task_id: string;
      /** @description the state the task is in now */
      state: string;
    };
    RetryAnswer: {
      /**
       * Format: uuid
       * @description the new task
       */
      task_id: string;
      /** Format: uuid */
      retry_of: string;
      /** @enum {string} */
      state: 'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
    };
    Route: {
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      updated_at: string;
      /** @description to be tried in this order */
      candidates: components['schemas']['RouteCandidate'][];
      /** @description wait so long before asking again; random, so that callers do not come back all at once */
      retry_after_ms: number;
      /** @description who was passed over; of a large fleet, of those looked at */
      rejected: {
        /** @description how many by each filter */
        counts: {
          [key: string]: number;
        };
        /** @description at most ten of them */
        named: {
          agent_id: string;
          /** @enum {string} */
          filter:
            | 'namespace'
            | 'address'
            | 'capability'
            | 'version'
            | 'tags'
            | 'zone'
            | 'excluded'
            | 'call_chain'
            | 'endpoint'
            | 'state'
            | 'held'
            | 'critical_dependency'
            | 'breaker'
            | 'warm_up'
            | 'capacity';
          reason: string;
        }[];
      };
    };
    RouteCandidate: {
      agent_id: string;
      /** @description agents without one cannot be called, and are passed over */
      endpoint: string;
      /** @description 0 to 100 */
      score: number;
      /** @description absent where it did nothing of late */
      estimated_p95_ms?: number;
      /** @description seconds for which this may be relied upon */
      expires_in: number;
      /** @description it is coming back from failures: call it last */
      throttled: boolean;
      free_slots: number;
    };
    Schedule: {
      namespace: string;
      schedule_id: string;
      cron: string;
      timezone: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      start_at?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      end_at?: string;
      jitter_ms: number;
      /** @enum {string} */
      catch_up: 'none' | 'last' | 'all';
      catch_up_limit: number;
      /** @enum {string} */
      overlap: 'allow' | 'skip' | 'queue';
      task: {
        capability?: string;
        capabilities?: string[];
        agent_id?: string;
        name?: string;
        /**
         * @description any JSON value
         * @default null
         */
        payload: unknown;
        /**
         * @description higher goes first: a head start of 100 tasks a point
         * @default 0
         */
        priority: number;
        /**
         * @description true: running it twice is harmless, so it may be retried after it may have started
         * @default false
         */
        idempotent: boolean;
        ack_timeout_ms?: number;
        execution_timeout_ms?: number;
        /** @description of the whole task, attempts and pauses included, from when it may start: must have ended by then */
        timeout_ms?: number;
        /** @description must have started by then */
        expires_in_ms?: number;
        max_attempts?: number;
        constraints?: {
          /** @description semver range of the capability */
          version?: string;
          /** @description the agent has all of them */
          tags?: string[];
          zone?: string;
          /** @description agents never to use */
          exclude?: string[];
        };
        affinity_key?: string;
        /** Format: uri */
        callback_url?: string;
      };
      paused: boolean;
      pause_reason?: string;
      /**
       * Format: date-time
       * @description the next fire time; absent: there is none any more
       */
      next_at?: string;
      /**
       * Format: date-time
       * @description a fire time that waits for the task of an earlier one to end
       */
      waiting_at?: string;
      /** @description why it could not fire the last time */
      problem?: string;
      changed_by: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      changed_at: string;
    };
    ScheduleDetail: {
      namespace: string;
      schedule_id: string;
      cron: string;
      timezone: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      start_at?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      end_at?: string;
      jitter_ms: number;
      /** @enum {string} */
      catch_up: 'none' | 'last' | 'all';
      catch_up_limit: number;
      /** @enum {string} */
      overlap: 'allow' | 'skip' | 'queue';
      task: {
        capability?: string;
        capabilities?: string[];
        agent_id?: string;
        name?: string;
        /**
         * @description any JSON value
         * @default null
         */
        payload: unknown;
        /**
         * @description higher goes first: a head start of 100 tasks a point
         * @default 0
         */
        priority: number;
        /**
         * @description true: running it twice is harmless, so it may be retried after it may have started
         * @default false
         */
        idempotent: boolean;
        ack_timeout_ms?: number;
        execution_timeout_ms?: number;
        /** @description of the whole task, attempts and pauses included, from when it may start: must have ended by then */
        timeout_ms?: number;
        /** @description must have started by then */
        expires_in_ms?: number;
        max_attempts?: number;
        constraints?: {
          /** @description semver range of the capability */
          version?: string;
          /** @description the agent has all of them */
          tags?: string[];
          zone?: string;
          /** @description agents never to use */
          exclude?: string[];
        };
        affinity_key?: string;
        /** Format: uri */
        callback_url?: string;
      };
      paused: boolean;
      pause_reason?: string;
      /**
       * Format: date-time
       * @description the next fire time; absent: there is none any more
       */
      next_at?: string;
      /**
       * Format: date-time
       * @description a fire time that waits for the task of an earlier one to end
       */
      waiting_at?: string;
      /** @description why it could not fire the last time */
      problem?: string;
      changed_by: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      changed_at: string;
      /** @description the next five fire times */
      next: string[];
      /** @description the last fifty, newest first */
      firings: components['schemas']['ScheduleFiring'][];
    };
    ScheduleFiring: {
      /**
       * Format: date-time
       * @description the fire time by the schedule
       */
      fire_at: string;
      /** @enum {string} */
      outcome: 'fired' | 'triggered' | 'skipped' | 'missed' | 'refused';
      /** Format: uuid */
      task_id?: string;
      detail?: string;
      /**
       * Format: date-time
       * @description when it fired, or was found not to
       */
      noted_at: string;
    };
    SchedulePage: {
      items: components['schemas']['Schedule'][];
      next_cursor?: string;
    };
    /**
     * @default {
     *       "namespace": "default",
     *       "reason": ""
     *     }
     */
    SchedulePauseRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      /** @default  */
      reason?: string;
    };
    ScheduleRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      /**
       * @description five fields (minute, hour, day of the month, month, day of the week), six with seconds first, or @daily and the like
       * @example 30 2 * * MON-FRI
       */
      cron: string;
      /**
       * @description an IANA name, such as Europe/Berlin
       * @default UTC
       */
      timezone?: string;
      /**
       * Format: date-time
       * @description no fire time before it
       */
      start_at?: string;
      /**
       * Format: date-time
       * @description no fire time after it
       */
      end_at?: string;
      /**
       * @description each firing is put off by up to this, but never to the next fire time
       * @default 0
       */
      jitter_ms?: number;
      /**
       * @description fire times that passed while nobody could fire them: none fires unless it is less than a minute late, the last one fires, or all fire, up to catch_up_limit
       * @default last
       * @enum {string}
       */
      catch_up?: 'none' | 'last' | 'all';
      /** @default 10 */
      catch_up_limit?: number;
      /**
       * @description while a task of an earlier firing has not ended: fire all the same, skip, or let one wait for it to end
       * @default allow
       * @enum {string}
       */
      overlap?: 'allow' | 'skip' | 'queue';
      task: {
        capability?: string;
        capabilities?: string[];
        agent_id?: string;
        name?: string;
        /**
         * @description any JSON value
         * @default null
         */
        payload?: unknown;
        /**
         * @description higher goes first: a head start of 100 tasks a point
         * @default 0
         */
        priority?: number;
        /**
         * @description true: running it twice is harmless, so it may be retried after it may have started
         * @default false
         */
        idempotent?: boolean;
        ack_timeout_ms?: number;
        execution_timeout_ms?: number;
        /** @description of the whole task, attempts and pauses included, from when it may start: must have ended by then */
        timeout_ms?: number;
        /** @description must have started by then */
        expires_in_ms?: number;
        max_attempts?: number;
        constraints?: {
          /** @description semver range of the capability */
          version?: string;
          /** @description the agent has all of them */
          tags?: string[];
          zone?: string;
          /** @description agents never to use */
          exclude?: string[];
        };
        affinity_key?: string;
        /** Format: uri */
        callback_url?: string;
      };
    };
    ScheduleTriggerAnswer: {
      schedule_id: string;
      /** Format: uuid */
      task_id: string;
    };
    SimulateAnswer: {
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      at: string;
      /** @enum {string} */
      by: 'selection' | 'affinity' | 'nobody';
      /** @description the agent that a task would go to now */
      chosen?: string;
      /** @description a capability that is paused: a task would wait */
      paused?: string;
      /** @description true: nobody is in good standing, so breakers limit nobody */
      panic?: boolean;
      /** @enum {string} */
      strategy: 'best' | 'weighted_random' | 'weighted_round_robin' | 'power_of_two' | 'least_watermark';
      /** @description the best first, then those that were rejected; at most `limit` */
      candidates: components['schemas']['SimulatedCandidate'][];
      /** @description candidates there are, shown or not */
      total: number;
    };
    SimulateRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      capability?: string;
      capabilities?: string[];
      agent_id?: string;
      name?: string;
      constraints?: {
        /** @description semver range of the capability */
        version?: string;
        /** @description the agent has all of them */
        tags?: string[];
        zone?: string;
        /** @description agents never to use */
        exclude?: string[];
      };
      affinity_key?: string;
      /**
       * @description agents that failed at it before, the last one last
       * @default []
       */
      tried?: string[];
      /**
       * @description candidates that are shown
       * @default 100
       */
      limit?: number;
    };
    SimulatedCandidate: {
      agent_id: string;
      /** @description 0 to 1; the sum of its parts */
      score?: number;
      parts?: {
        [key: string]: number;
      };
      /** @description 0 to 1; absent where it did nothing of late */
      success_rate?: number;
      p50_ms?: number;
      p95_ms?: number;
      /** @description since its last sign of life */
      idle_ms?: number;
      consecutive_failures: number;
      in_flight: number;
      /** @description slots it might use then: while it comes back from failures fewer than it declared */
      max_concurrency: number;
      weight: number;
      /** @description true: it is coming back from failures */
      throttled?: boolean;
      name: string;
      state: string;
      /** @enum {string} */
      verdict: 'chosen' | 'eligible' | 'tried' | 'rejected';
      /**
       * @description which filter rejected it
       * @enum {string}
       */
      filter?:
        | 'namespace'
        | 'address'
        | 'capability'
        | 'version'
        | 'tags'
        | 'zone'
        | 'excluded'
        | 'call_chain'
        | 'endpoint'
        | 'state'
        | 'held'
        | 'critical_dependency'
        | 'breaker'
        | 'warm_up'
        | 'capacity';
      reason?: string;
      /** @description share of a thousand choices with other seeds that it would be given, 0 to 1 */
      share?: number;
    };
    StoryEntry: {
      /** @description place in the story, from 1; the SSE event id */
      position: number;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      at: string;
      /** @description accepted, scheduled, fallback, offered, acknowledged, progress, closed, attribution, agent_state, ended, waiting */
      kind: string;
      text: string;
      delivery_id?: string;
      agent_id?: string;
      data?: {
        [key: string]: unknown;
      };
    };
    Task: {
      /** Format: uuid */
      task_id: string;
      namespace: string;
      /** @enum {string} */
      state: 'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
      /** @description the capability, or the agent or name it is addressed to */
      capability: string;
      /** @description the name that was asked for, where that is an alias; not in lists */
      asked?: string;
      requirement: {
        [key: string]: unknown;
      };
      priority: number;
      idempotent: boolean;
      attempt: number;
      max_attempts: number;
      agent_id?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      created_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      run_at: string;
      /**
       * Format: date-time
       * @description must have started by then
       */
      expires_at?: string;
      /**
       * Format: date-time
       * @description must have ended by then
       */
      ends_at?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      finished_at?: string;
      /** Format: uuid */
      parent_task_id?: string;
      /** @description the agents that handle its ancestors, the oldest first; not in lists */
      chain?: string[];
      /** @description nobody could be reached for what it asked for: it went to an equivalent */
      fallback_used?: {
        from: string;
        to: string;
        reason: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        at: string;
      };
      /** Format: uuid */
      retry_of?: string;
      /** @description any JSON value */
      progress?: unknown;
      /** @description any JSON value */
      result?: unknown;
      /** @description any JSON value */
      meta?: unknown;
      error?: components['schemas']['TaskError'];
    };
    TaskAccepted: {
      /** Format: uuid */
      task_id: string;
      /** @enum {string} */
      state: 'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
      /** @description true: the idempotency key named this task already */
      deduplicated: boolean;
    };
    TaskBatchAnswer: {
      /** @description one answer per task, in order */
      results: (
        | components['schemas']['TaskAccepted']
        | {
            error: components['schemas']['ItemProblem'];
          }
      )[];
      accepted: number;
      rejected: number;
    };
    TaskBatchRequest: {
      tasks: components['schemas']['TaskRequest'][];
    };
    TaskDetail: {
      /** Format: uuid */
      task_id: string;
      namespace: string;
      /** @enum {string} */
      state: 'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
      /** @description the capability, or the agent or name it is addressed to */
      capability: string;
      /** @description the name that was asked for, where that is an alias; not in lists */
      asked?: string;
      requirement: {
        [key: string]: unknown;
      };
      priority: number;
      idempotent: boolean;
      attempt: number;
      max_attempts: number;
      agent_id?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      created_at: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      run_at: string;
      /**
       * Format: date-time
       * @description must have started by then
       */
      expires_at?: string;
      /**
       * Format: date-time
       * @description must have ended by then
       */
      ends_at?: string;
      /**
       * Format: date-time
       * @description RFC 3339, UTC
       */
      finished_at?: string;
      /** Format: uuid */
      parent_task_id?: string;
      /** @description the agents that handle its ancestors, the oldest first; not in lists */
      chain?: string[];
      /** @description nobody could be reached for what it asked for: it went to an equivalent */
      fallback_used?: {
        from: string;
        to: string;
        reason: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC
         */
        at: string;
      };
      /** Format: uuid */
      retry_of?: string;
      /** @description any JSON value */
      progress?: unknown;
      /** @description any JSON value */
      result?: unknown;
      /** @description any JSON value */
      meta?: unknown;
      error?: components['schemas']['TaskError'];
      /** @description any JSON value */
      payload: unknown;
      deliveries: components['schemas']['Delivery'][];
    };
    TaskError: {
      code: string;
      message: string;
      retryable: boolean;
      agent_id?: string;
      /** @description any JSON value */
      raw_error?: unknown;
    };
    TaskPage: {
      items: components['schemas']['Task'][];
      next_cursor?: string;
    };
    TaskRequest: {
      /**
       * @description Isolation domain; namespaces do not see each other.
       * @default default
       */
      namespace?: string;
      capability?: string;
      capabilities?: string[];
      agent_id?: string;
      name?: string;
      /**
       * @description any JSON value
       * @default null
       */
      payload?: unknown;
      /**
       * @description higher goes first: a head start of 100 tasks a point
       * @default 0
       */
      priority?: number;
      /**
       * @description true: running it twice is harmless, so it may be retried after it may have started
       * @default false
       */
      idempotent?: boolean;
      ack_timeout_ms?: number;
      execution_timeout_ms?: number;
      /** @description of the whole task, attempts and pauses included, from when it may start: must have ended by then */
      timeout_ms?: number;
      /** @description must have started by then */
      expires_in_ms?: number;
      max_attempts?: number;
      constraints?: {
        /** @description semver range of the capability */
        version?: string;
        /** @description the agent has all of them */
        tags?: string[];
        zone?: string;
        /** @description agents never to use */
        exclude?: string[];
      };
      affinity_key?: string;
      /** Format: uri */
      callback_url?: string;
      delay_ms?: number;
      /**
       * Format: date-time
       * @description earliest start; not together with delay_ms
       */
      run_at?: string;
      /** Format: uuid */
      parent_task_id?: string;
      /** @description as the Idempotency-Key header, for tasks of a batch */
      idempotency_key?: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  agentsDeregister: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DeregisterRequest'];
      };
    };
    responses: {
      /** @description Leave: no new work, a drain time for what is held */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RemovalAnswer'];
        };
      };
      /** @description `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease; `REACH_LEASE_EXPIRED`: The lease has ended */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deliveriesLease: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['LeaseRequest'];
      };
    };
    responses: {
      /** @description Renew the lease and report capacity */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LeaseAnswer'];
        };
      };
      /** @description `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease; `REACH_LEASE_EXPIRED`: The lease has ended */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  agentsRegister: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RegisterRequest'];
      };
    };
    responses: {
      /** @description Register an agent and get its lease */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RegisterAnswer'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_UNAVAILABLE`: Temporarily unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  agentsList: {
    parameters: {
      query?: {
        /** @description Rows a page */
        limit?: number;
        /** @description `next_cursor` of the page before */
        cursor?: string;
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        capability?: string;
        name?: string;
        state?: 'online' | 'degraded' | 'suspicious' | 'offline' | 'removing';
        tag?: string;
        include_removed?: string;
        /** @description true: with the facts behind each state */
        facts?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description List agents */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentPage'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  agentsOne: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One agent with the facts behind its state, what it did of late, and its history */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentDetail'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  agentsDrain: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['DrainRequest'];
      };
    };
    responses: {
      /** @description Drain an agent, as an operator */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RemovalAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  agentsHold: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['HoldRequest'];
      };
    };
    responses: {
      /** @description Hold an agent out of service, as an operator */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Agent'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  agentsRelease: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        agent_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description End a hold: the agent gets work again as its state allows */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Agent'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  aliasesList: {
    parameters: {
      query?: {
        /** @description Rows a page */
        limit?: number;
        /** @description `next_cursor` of the page before */
        cursor?: string;
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Other names of capabilities */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CapabilityAliasPage'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  aliasesWrite: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        alias: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CapabilityAliasRequest'];
      };
    };
    responses: {
      /** @description Take a name as another one from now on, of tasks and of agents */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CapabilityAlias'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_STATE_CONFLICT`: The state does not allow this call */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  aliasesRemove: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        alias: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Forget an alias; tasks that were taken by it keep the capability */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CapabilityAlias'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  observatoryList: {
    parameters: {
      query?: {
        /** @description Rows a page */
        limit?: number;
        /** @description `next_cursor` of the page before */
        cursor?: string;
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        task_id?: string;
        code?: string;
        blame?: 'dependency' | 'agent' | 'network' | 'caller' | 'platform';
        agent_id?: string;
        dependency?: string;
        capability?: string;
        /** @description RFC 3339, UTC */
        since?: string;
        /** @description RFC 3339, UTC */
        until?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Why attempts and tasks failed, newest first */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AttributionPage'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  observatorySummary: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        task_id?: string;
        code?: string;
        blame?: 'dependency' | 'agent' | 'network' | 'caller' | 'platform';
        agent_id?: string;
        dependency?: string;
        capability?: string;
        /** @description RFC 3339, UTC */
        since?: string;
        /** @description RFC 3339, UTC */
        until?: string;
        group_by?: 'code' | 'blame' | 'agent_id' | 'dependency' | 'capability' | 'stage';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Failures counted by code, blame, agent, dependency, capability or stage */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AttributionSummary'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  capabilitiesList: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Who offers what, and what is paused */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CapabilityList'];
        };
      };
    };
  };
  capabilitiesOne: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        capability: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One capability by any of its names: versions, schemas, who offers it */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CapabilityDetail'];
        };
      };
    };
  };
  capabilitiesPause: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        capability: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['CapabilitySwitchRequest'];
      };
    };
    responses: {
      /** @description Pause: tasks are taken and wait */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Capability'];
        };
      };
    };
  };
  capabilitiesResume: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        capability: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['CapabilitySwitchRequest'];
      };
    };
    responses: {
      /** @description Resume what was paused */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Capability'];
        };
      };
    };
  };
  deliveriesBatch: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DeliveryBatchRequest'];
      };
    };
    responses: {
      /** @description Many operations in one call; each is answered on its own */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryBatchAnswer'];
        };
      };
    };
  };
  deliveriesClaim: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ClaimRequest'];
      };
    };
    responses: {
      /** @description Take offers: a long poll that ends when work comes */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ClaimAnswer'];
        };
      };
      /** @description `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease; `REACH_LEASE_EXPIRED`: The lease has ended */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deliveriesAck: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Names one delivery of one task; opaque. */
        delivery_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AckRequest'];
      };
    };
    responses: {
      /** @description Acknowledge: only execute: true lets the agent begin */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AckAnswer'];
        };
      };
    };
  };
  deliveriesComplete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Names one delivery of one task; opaque. */
        delivery_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CompleteRequest'];
      };
    };
    responses: {
      /** @description Report the result */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResultAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_DELIVERY_SUPERSEDED`: The delivery is no longer the current one of its task; `REACH_CANCELED`: The task was canceled; `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease; `REACH_STATE_CONFLICT`: The state does not allow this call */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_PAYLOAD_TOO_LARGE`: The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deliveriesFail: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Names one delivery of one task; opaque. */
        delivery_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['FailRequest'];
      };
    };
    responses: {
      /** @description Report a failure */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResultAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_DELIVERY_SUPERSEDED`: The delivery is no longer the current one of its task; `REACH_CANCELED`: The task was canceled; `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  deliveriesProgress: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Names one delivery of one task; opaque. */
        delivery_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ProgressRequest'];
      };
    };
    responses: {
      /** @description Note progress, extend the deadline */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProgressAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_DELIVERY_SUPERSEDED`: The delivery is no longer the current one of its task; `REACH_CANCELED`: The task was canceled; `REACH_LEASE_SUPERSEDED`: A newer registration of this agent holds the lease; `REACH_STATE_CONFLICT`: The state does not allow this call */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  feedEvents: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        agent_id?: string;
        /** @description Comma separated: transition (of an agent’s state), hold and release (an operator’s order), doubt and trust (of a replica’s prober in itself) */
        type?: string;
        /** @description As the header Last-Event-ID, which goes before it; 0: from the oldest that is kept */
        last_event_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  routeOutcomes: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OutcomesRequest'];
      };
    };
    responses: {
      /** @description What became of calls that the caller made itself; they count as deliveries do */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OutcomesAnswer'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  policiesList: {
    parameters: {
      query?: {
        /** @description Rows a page */
        limit?: number;
        /** @description `next_cursor` of the page before */
        cursor?: string;
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The policies of a namespace, by capability */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PolicyPage'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  policiesRead: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        /** @description a capability, or `*` for every one of the namespace */
        capability: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description What holds for a capability, and the last versions of its policy */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EffectivePolicy'];
        };
      };
    };
  };
  policiesWrite: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description a capability, or `*` for every one of the namespace */
        capability: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PolicyRequest'];
      };
    };
    responses: {
      /** @description Replace the policy of a capability; it holds from the next choice on */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PolicyVersion'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_STATE_CONFLICT`: The state does not allow this call */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  policiesRemove: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        if_version?: number;
      };
      header?: never;
      path: {
        /** @description a capability, or `*` for every one of the namespace */
        capability: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Remove the policy of a capability: that of the namespace holds again */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PolicyVersion'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_STATE_CONFLICT`: The state does not allow this call */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  probeBudget: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description What probing costs, with the arithmetic */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProbeBudget'];
        };
      };
    };
  };
  routeSimulate: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SimulateRequest'];
      };
    };
    responses: {
      /** @description Who would get such a task now, and why nobody else; nothing is delivered */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SimulateAnswer'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  routeRoute: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        /** @description the agent that asks: never itself */
        source_agent_id?: string;
        zone?: string;
        limit?: number;
      };
      header?: never;
      path: {
        /** @description `name` or `name@range` */
        capability: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Whom to call for a capability, for callers that call agents themselves */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Route'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesList: {
    parameters: {
      query?: {
        /** @description Rows a page */
        limit?: number;
        /** @description `next_cursor` of the page before */
        cursor?: string;
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description List schedules, by id */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SchedulePage'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesOne: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        schedule_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One schedule, with its next fire times and what came of the last ones */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ScheduleDetail'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesWrite: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        schedule_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ScheduleRequest'];
      };
    };
    responses: {
      /** @description Create or replace a schedule */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ScheduleDetail'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_PAYLOAD_TOO_LARGE`: The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesRemove: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        schedule_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Remove a schedule, with the record of its firings; its tasks go on */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Schedule'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesPause: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        schedule_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['SchedulePauseRequest'];
      };
    };
    responses: {
      /** @description Pause: what passes until it is resumed does not fire */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Schedule'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesResume: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        schedule_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Go on with the next fire time */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Schedule'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  schedulesTrigger: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        schedule_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Fire now, beside its times */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ScheduleTriggerAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_QUEUE_FULL`: The queue is full */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksList: {
    parameters: {
      query?: {
        /** @description Rows a page */
        limit?: number;
        /** @description `next_cursor` of the page before */
        cursor?: string;
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        state?:
          'scheduled' | 'queued' | 'offered' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'expired';
        capability?: string;
        agent_id?: string;
        code?: string;
        /** @description RFC 3339, UTC */
        since?: string;
        /** @description RFC 3339, UTC */
        until?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description List tasks, newest first */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TaskPage'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksSubmit: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['TaskRequest'];
      };
    };
    responses: {
      /** @description Store a task; it will reach exactly one terminal state */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TaskAccepted'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_CALL_CYCLE`: The call chain returns to the same agent too often */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_PAYLOAD_TOO_LARGE`: The body is too large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_IDEMPOTENCY_CONFLICT`: The idempotency key was used with another body */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_QUEUE_FULL`: The queue is full */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_UNAVAILABLE`: Temporarily unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksSubmitBatch: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['TaskBatchRequest'];
      };
    };
    responses: {
      /** @description Store many tasks; each is accepted or refused on its own */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TaskBatchAnswer'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_UNAVAILABLE`: Temporarily unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksRetryMany: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkRetryRequest'];
      };
    };
    responses: {
      /** @description Submit ended tasks anew, as new tasks */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkRetryAnswer'];
        };
      };
      /** @description `REACH_VALIDATION_FAILED`: The request is not valid */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksOne: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
        /** @description wait up to this long for a terminal state */
        wait_ms?: number;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One task with its result or error; wait_ms waits for its end */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TaskDetail'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksCancel: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Cancel a task that has not ended */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CancelAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  observatoryEvents: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  observatoryExplain: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The whole story of a task */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Explanation'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tasksRetry: {
    parameters: {
      query?: {
        /** @description Isolation domain; namespaces do not see each other. */
        namespace?: string;
      };
      header?: never;
      path: {
        task_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Submit an ended task anew, as a new task */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RetryAnswer'];
        };
      };
      /** @description `REACH_NOT_FOUND`: Not found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_STATE_CONFLICT`: The state does not allow this call */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
      /** @description `REACH_QUEUE_FULL`: The queue is full */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'];
        };
      };
    };
  };
  tokensIntrospect: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['IntrospectRequest'];
      };
    };
    responses: {
      /** @description Whether a task token holds: its delivery runs at this moment */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IntrospectAnswer'];
        };
      };
    };
  };
}
