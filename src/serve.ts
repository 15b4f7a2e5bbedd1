import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import type { Config } from './platform/config/config.js';
import { Readiness } from './platform/health/readiness.js';
import { APP_OPTIONS, httpAdapter, setUpHttp } from './platform/http/http-app.js';
import { createLogger } from './platform/telemetry/logger.js';
import { explainListenError } from './start-failure.js';

/** A server that listens. */
export interface RunningServer {
  /** Where it can be reached from this machine, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The ordered shutdown; ends within the grace time. */
  stop(): Promise<void>;
}

/** The application, wired but not listening. */
export async function createApp(config: Config): Promise<NestFastifyApplication> {
  const logger = await createLogger(config);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(config), httpAdapter(config), {
    ...APP_OPTIONS,
    logger,
    abortOnError: false,
  });
  setUpHttp(app, config);
  return app;
}

/** Starts the server and waits until it listens. @throws StartError when something outside prevents it */
export async function serve(config: Config): Promise<RunningServer> {
  const app = await createApp(config);
  try {
    await app.listen({ host: config.httpHost, port: config.httpPort });
  } catch (error) {
    await app.close();
    throw explainListenError(error, config.httpHost, config.httpPort);
  }
  app.get(Readiness).markStarted();
  const url = await app.getUrl();
  new Logger('serve').log({ msg: 'listening', url, api: `${url}/api/v1`, docs: `${url}/api/docs` });
  return { url, stop: () => app.close() };
}
