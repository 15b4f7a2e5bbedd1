import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { openApiOf } from './openapi.js';

/** The only files of Swagger UI that the page below asks for. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Agent-Reach API</title>
    <link rel="stylesheet" href="/api/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/api/docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/api/docs/swagger-ui-bundle.js"></script>
    <script>
      SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#swagger-ui', deepLinking: true });
    </script>
  </body>
</html>
`;

/** Serves `/api/openapi.json` and Swagger UI at `/api/docs`, from local files only. */
export function serveDocs(app: NestFastifyApplication): void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const fastify = app.getHttpAdapter().getInstance();
  let document: string | undefined;
  fastify.get('/api/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApiOf(app));
    void reply.type('application/json').send(document);
  });
  const page = (_request: unknown, reply: FastifyReply) =>
    void reply.type('text/html; charset=utf-8').send(PAGE);
  fastify.get('/api/docs', page);
  fastify.get('/api/docs/', page);
  for (const [file, type] of Object.entries(FILES)) {
    fastify.get(`/api/docs/${file}`, (_request, reply) => {
      void reply
        .type(type)
        .header('cache-control', 'max-age=86400')
        .send(createReadStream(join(folder, file)));
    });
  }
}
