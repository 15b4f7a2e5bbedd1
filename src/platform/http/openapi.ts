import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import { problem } from './describe.js';

const REF_PREFIX = '#/components/schemas/';

interface JsonSchema {
  [keyword: string]: unknown;
}

/** JSON Schema of a zod schema, named parts (`.meta({ id })`) split off as components. */
function convert(schema: unknown, { schemaType }: { schemaType: 'input' | 'output' }) {
  if (!(schema instanceof z.ZodType)) return undefined;
  const json = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: schemaType,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The bound of every JavaScript integer says nothing about the field.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  }) as JsonSchema;
  return split(json);
}

/**
 * A named schema stands once under components and is referred to. A schema that reads differently as input
 * and as output (defaults make fields optional on the way in only) gets one component for each.
 */
function split(json: JsonSchema) {
  const {
    $schema: _dialect,
    $defs = {},
    ...root
  } = json as JsonSchema & { $defs?: Record<string, JsonSchema> };
  const components: Record<string, JsonSchema> = {};
  for (const [name, part] of Object.entries($defs)) components[name] = rename(part) as JsonSchema;
  const own = rename(root) as JsonSchema;
  const id = own['id'];
  if (typeof id !== 'string') return { schema: own, components: strip(components) };
  components[id] = own;
  return { schema: { $ref: REF_PREFIX + id }, components: strip(components) };
}

function strip(components: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(components).map(([name, { id: _id, ...schema }]) => [name, schema]),
  );
}

function rename(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rename);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/$defs/', REF_PREFIX)]
        : [key, rename(inner)],
    ),
  );
}

/** The OpenAPI 3.1 document of the application, made from the schemas that validate. */
export function openApiOf(app: NestFastifyApplication): OpenAPIObject {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Agent-Reach')
    .setDescription(
      'Dispatches tasks to AI agents that can reach what they need, and says why when one fails.',
    )
    .setVersion('1')
    .addBearerAuth()
    .addSecurityRequirements('bearer')
    .build();
  const document = SwaggerModule.createDocument(app, base, {
    standardSchemaConverter: convert,
    operationIdFactory: (_controller, method) => method,
  });
  const parts = convert(problem, { schemaType: 'output' });
  document.components = {
    ...document.components,
    schemas: sorted({ ...document.components?.schemas, ...(parts?.components as object) }),
  };
  document.paths = sorted(document.paths);
  return document;
}

function sorted<T>(map: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
