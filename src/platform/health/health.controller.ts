import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Metrics } from '../telemetry/metrics.js';
import { Readiness, type Report } from './readiness.js';

/** What orchestrators of containers and Prometheus ask. Outside of the API prefix. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  /** The process runs and its event loop turns. */
  @Get('livez')
  live() {
    return { live: true };
  }

  /** Work may be sent here. */
  @Get('readyz')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Report> {
    const report = await this.readiness.report();
    void reply.status(report.ready ? 200 : 503);
    return report;
  }

  /** Starting is over; stays so. */
  @Get('startupz')
  started(@Res({ passthrough: true }) reply: FastifyReply) {
    void reply.status(this.readiness.isStarted ? 200 : 503);
    return { started: this.readiness.isStarted };
  }

  @Get('metrics')
  @Header('cache-control', 'no-store')
  async scrape(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.header('content-type', this.metrics.contentType);
    return this.metrics.text();
  }
}
