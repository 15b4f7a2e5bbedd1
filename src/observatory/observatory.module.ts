import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { AttributionStore } from './attribution.store.js';
import { Explainer } from './explainer.js';
import { FeedController } from './feed.controller.js';
import { FeedStore } from './feed.store.js';
import { Feed } from './feed.js';
import { ObservatoryController } from './observatory.controller.js';
import { TaskStream } from './task-stream.js';

@Module({
  imports: [RegistryModule, SchedulerModule],
  controllers: [FeedController, ObservatoryController],
  providers: [AttributionStore, Explainer, Feed, FeedStore, TaskStream],
})
export class ObservatoryModule {}
