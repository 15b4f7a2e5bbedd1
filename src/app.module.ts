import { type DynamicModule, Module } from '@nestjs/common';
import type { Config } from './platform/config/config.js';
import { PlatformModule } from './platform/platform.module.js';
import { CoordinationModule } from './platform/coordination/coordination.module.js';
import { PostgresModule } from './platform/postgres/postgres.module.js';
import { QueueModule } from './platform/queue/queue.module.js';
import { ObservatoryModule } from './observatory/observatory.module.js';
import { ProbeModule } from './probe/probe.module.js';
import { RegistryModule } from './registry/registry.module.js';
import { SchedulerModule } from './scheduler/scheduler.module.js';
import { SecurityModule } from './security/security.module.js';

/**
 * The whole application, in the order of the folders. To add a part: a module in its own folder, and its
 * class in `imports` here, after those it builds on. `CONFIG`, `Shutdown`, `Readiness` and `Metrics` are
 * global, so a module imports neither.
 */
@Module({})
export class AppModule {
  static of(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.of(config),
        PostgresModule,
        CoordinationModule,
        QueueModule,
        SecurityModule,
        RegistryModule,
        ProbeModule,
        SchedulerModule,
        ObservatoryModule,
      ],
    };
  }
}
