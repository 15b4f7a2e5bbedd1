import { Module } from '@nestjs/common';
import { RegistryModule } from '../registry/registry.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { AttributionStore } from './attribution.store.js';
import { Explainer } from './explainer.js';
import { ObservatoryController } from './observatory.controller.js';
import { TaskStream } from './task-stream.js';

@Module({
  imports: [RegistryModule, SchedulerModule],
  controllers: [ObservatoryController],
  providers: [AttributionStore, Explainer, TaskStream],
})
export class ObservatoryModule {}
