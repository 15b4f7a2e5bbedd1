import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { loadConfig } from './platform/config/config.js';
import { envExample } from './platform/config/env-example.js';
import { httpAdapter, usePrefix } from './platform/http/http-app.js';
import { openApiOf } from './platform/http/openapi.js';

/** Files at the root of the repository that are made from the sources: name -> text. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const config = loadConfig({ REACH_LOG_LEVEL: 'silent' });
  // Preview: modules and routes are scanned, but no provider is made, so nothing connects anywhere.
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(config), httpAdapter(config), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  usePrefix(app);
  return {
    'openapi.json': `${JSON.stringify(openApiOf(app), null, 2)}\n`,
    '.env.example': envExample(),
  };
}
