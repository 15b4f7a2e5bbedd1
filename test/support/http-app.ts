import 'reflect-metadata';
import { Module, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadConfig } from '../../src/platform/config/config.js';
import { Readiness } from '../../src/platform/health/readiness.js';
import { APP_OPTIONS, httpAdapter, setUpHttp } from '../../src/platform/http/http-app.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';
import { PlatformModule } from '../../src/platform/platform.module.js';
import { SecurityModule } from '../../src/security/security.module.js';

/** A running application of a test. */
export interface TestApp {
  readonly app: NestFastifyApplication;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The ordered shutdown, as in production. */
  close(): Promise<void>;
}

/**
 * An application with everything that `serve.ts` puts around controllers, and just the given parts inside.
 * It listens on a free port: Fastify's `inject` cannot be loaded by jest.
 *
 * @param env environment variables to parse the configuration from; logs are off unless set here.
 * @param consoleFolder a built console to serve
 */
export async function testApp(
  parts: Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>,
  env: Record<string, string> = {},
  consoleFolder?: string,
): Promise<TestApp> {
  class Parts {}
  Module(parts)(Parts);
  const config = loadConfig({ REACH_LOG_LEVEL: 'silent', REACH_HTTP_PORT: '0', ...env });
  const module = await Test.createTestingModule({
    imports: [PlatformModule.of(config), SecurityModule, Parts],
  }).compile();
  const app = module.createNestApplication<NestFastifyApplication>(httpAdapter(config), {
    ...APP_OPTIONS,
    logger: await createLogger(config),
  });
  setUpHttp(app, config, consoleFolder);
  await app.listen({ host: '127.0.0.1', port: 0 });
  app.get(Readiness).markStarted();
  return { app, url: await app.getUrl(), close: () => app.close() };
}
