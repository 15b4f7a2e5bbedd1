import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Config, CONFIG } from './config/config.js';
import { HealthController } from './health/health.controller.js';
import { Readiness } from './health/readiness.js';
import { Shutdown } from './lifecycle/shutdown.js';
import { AddressGuard, policyOf } from './outbound/address-guard.js';
import { Metrics } from './telemetry/metrics.js';

/** What every other module may inject: configuration, shutdown, readiness, metrics, where to connect. */
@Global()
@Module({})
export class PlatformModule {
  static of(config: Config): DynamicModule {
    return {
      module: PlatformModule,
      controllers: [HealthController],
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: AddressGuard, useFactory: () => new AddressGuard(policyOf(config)) },
        Shutdown,
        Readiness,
        Metrics,
      ],
      exports: [AddressGuard, CONFIG, Shutdown, Readiness, Metrics],
    };
  }
}
