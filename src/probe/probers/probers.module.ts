import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { AddressGuard } from '../../platform/outbound/address-guard.js';
import { Credentials } from '../../platform/outbound/credentials.js';
import { Probers } from './probers.js';

/** Provides `Probers`. */
@Module({
  providers: [
    {
      provide: Probers,
      inject: [AddressGuard, CONFIG],
      useFactory: (guard: AddressGuard, config: Config) =>
        new Probers(guard, new Credentials(config.credentialsDir)),
    },
  ],
  exports: [Probers],
})
export class ProbersModule {}
