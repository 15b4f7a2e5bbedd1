import { Module } from '@nestjs/common';
import { Turns } from '../core/fair-share.js';
import { ProbeModule } from '../probe/probe.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { TokenKeysModule } from '../security/token-keys.module.js';
import { Admission } from './admission.js';
import { AdmissionStore } from './admission.store.js';
import { CallChains } from './call-chains.js';
import { Callbacks } from './callbacks.js';
import { Choices } from './choices.js';
import { Closer } from './closer.js';
import { DeadlineAlarm } from './deadline-alarm.js';
import { DeadlineSweep } from './deadline-sweep.js';
import { Deliveries } from './deliveries.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveryStore } from './delivery.store.js';
import { Depths } from './depths.js';
import { DirectPlacement } from './direct-placement.js';
import { Evidence } from './evidence.js';
import { Fallback } from './fallback.js';
import { Hindrances } from './hindrances.js';
import { Lanes } from './lanes.js';
import { Moves } from './moves.js';
import { Orders } from './orders.js';
import { Outcomes } from './outcomes.js';
import { Overdue } from './overdue.js';
import { Placement } from './placement.js';
import { PlacementStore } from './placement.store.js';
import { Policies } from './policy/policies.js';
import { PoliciesController } from './policy/policies.controller.js';
import { PolicyStore } from './policy/policy.store.js';
import { PushAnswers } from './push-answers.js';
import { Renames } from './renames.js';
import { Retention } from './retention.js';
import { RetryBudgets } from './retry-budgets.js';
import { RouteController } from './route.controller.js';
import { Routes } from './routes.js';
import { ScheduleFiring } from './schedules/firing.js';
import { ScheduledTasks } from './schedules/scheduled-tasks.js';
import { ScheduleStore } from './schedules/schedule.store.js';
import { Schedules } from './schedules/schedules.js';
import { SchedulesController } from './schedules/schedules.controller.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { Simulation } from './simulation.js';
import { Slots } from './slots.js';
import { Standings } from './standings.js';
import { SweepStore } from './sweep.store.js';
import { TaskNews } from './task-news.js';
import { TaskStore } from './task.store.js';
import { Tasks } from './tasks.js';
import { TasksController } from './tasks.controller.js';
import { Introspection } from './tokens/introspection.js';
import { TaskTokens } from './tokens/task-tokens.js';
import { TokensController } from './tokens/tokens.controller.js';
import { Inbox } from './transports/inbox.js';
import { OfferWriter } from './transports/offer-writer.js';
import { Offers } from './transports/offers.js';
import { PushTransport } from './transports/push.js';
import { SessionEcho } from './transports/session-echo.js';
import { SessionGateway } from './transports/session-gateway.js';
import { Sessions } from './transports/sessions.js';
import { UnplaceableTasks } from './unplaceable.js';
import { Upkeep } from './upkeep.js';

@Module({
  imports: [RegistryModule, ProbeModule, TokenKeysModule],
  controllers: [
    TasksController,
    DeliveriesController,
    PoliciesController,
    RouteController,
    SchedulesController,
    TokensController,
  ],
  providers: [
    Admission,
    AdmissionStore,
    CallChains,
    Callbacks,
    Choices,
    Closer,
    DeadlineAlarm,
    DeadlineSweep,
    Deliveries,
    DeliveryStore,
    Depths,
    DirectPlacement,
    Evidence,
    Fallback,
    Hindrances,
    Inbox,
    Introspection,
    Lanes,
    Moves,
    Offers,
    OfferWriter,
    Orders,
    Outcomes,
    Overdue,
    Placement,
    PlacementStore,
    Policies,
    PolicyStore,
    PushAnswers,
    PushTransport,
    SessionEcho,
    SessionGateway,
    Renames,
    Retention,
    Routes,
    RetryBudgets,
    ScheduledTasks,
    ScheduleFiring,
    Schedules,
    ScheduleStore,
    SchedulerMetrics,
    Sessions,
    Simulation,
    Slots,
    Standings,
    SweepStore,
    TaskNews,
    Tasks,
    TaskStore,
    TaskTokens,
    { provide: Turns, useFactory: () => new Turns() },
    UnplaceableTasks,
    Upkeep,
  ],
  exports: [Hindrances, Tasks, TaskStore, TaskNews],
})
export class SchedulerModule {}
