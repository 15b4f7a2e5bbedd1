import { Module } from '@nestjs/common';

/** The whole application. */
@Module({})
export class AppModule {}
