import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import { problem } from './describe.js';

const REF_PREFIX = '#/components/schemas/';

interface JsonSchema {
  [keyword: string]: unknown;
}

type Converter = (
  schema: unknown,
  options: { schemaType: 'input' | 'output' },
) => ReturnType<typeof split> | undefined;

/**
 * Converts for one document, and refuses two things of one name: two schemas with the same id, or a schema
 * that reads differently as a body and as an answer (a default makes a field optional on the way in only).
 */
function converter(): Converter {
  const named = new Map<string, string>();
  return (schema, options) => {
    if (!(schema instanceof z.ZodType)) return undefined;
    const converted = convert(schema, options.schemaType);
    for (const [name, component] of Object.entries(converted.components)) {
      const text = JSON.stringify(component);
      if ((named.get(name) ?? text) !== text) {
        throw new Error(`OpenAPI: "${name}" names two schemas, or one that reads differently in and out`);
      }
      named.set(name, text);
    }
    return converted;
  };
}

/** JSON Schema of a zod schema, named parts (`.meta({ id })`) split off as components. */
function convert(schema: z.ZodType, schemaType: 'input' | 'output') {
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

/** A named schema stands once under components and is referred to. */
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
    .addBearerAuth({ type: 'http', scheme: 'bearer' })
    .addSecurityRequirements('bearer')
    .build();
  const document = SwaggerModule.createDocument(app, base, {
    standardSchemaConverter: converter(),
    operationIdFactory: operationId,
  });
  const parts = convert(problem, 'output');
  document.components = {
    ...document.components,
    schemas: sorted({ ...document.components?.schemas, ...(parts.components as object) }),
  };
  document.paths = sorted(document.paths);
  relaxBodies(document);
  return document;
}

/** A body whose schema has a default may be left out, which Nest does not see. */
function relaxBodies(document: OpenAPIObject): void {
  const schemas = document.components?.schemas ?? {};
  for (const item of Object.values(document.paths)) {
    const body = item.post?.requestBody;
    if (!body || '$ref' in body) continue;
    const schema = body.content['application/json']?.schema as
      { $ref?: string; default?: unknown } | undefined;
    const own = schema?.$ref
      ? (schemas[schema.$ref.slice(REF_PREFIX.length)] as { default?: unknown })
      : schema;
    if (own?.default !== undefined) body.required = false;
  }
}

/** `TasksController.submit` -> `tasksSubmit`: unique, and fit for the name of a client's function. */
function operationId(controller: string, method: string): string {
  const subject = controller.replace(/Controller$/, '');
  return (
    subject.charAt(0).toLowerCase() + subject.slice(1) + method.charAt(0).toUpperCase() + method.slice(1)
  );
}

function sorted<T>(map: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
