import { z } from 'zod';
import { durationMs, json, plainHttpUrl, userId } from '../platform/wire/primitives.js';

/* What an agent declares about something that it needs. One schema a type: it is what the probers read, too. */

/**
 * A secret by reference: it is read where the probe runs and is never stored. Only names under a prefix, and
 * files under a folder, that whoever runs the dispatcher chose; an agent could name any secret of it otherwise.
 */
const credential = z
  .string()
  .max(300)
  .regex(
    /^(env:REACH_CREDENTIAL_\w+|file:(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*)$/,
    'must be env:REACH_CREDENTIAL_<NAME> or file:<path below REACH_CREDENTIALS_DIR>; never the secret itself',
  )
  .meta({
    description:
      'Names the secret that the probe shows: `env:REACH_CREDENTIAL_X`, a variable of the dispatcher, or `file:x`, a file below its REACH_CREDENTIALS_DIR.',
    examples: ['env:REACH_CREDENTIAL_SEARCH'],
  });

const tlsMode = z.enum(['verify', 'insecure']).meta({
  description: '`insecure` takes any certificate.',
});

const common = {
  name: userId('dependency name'),
  critical: z.boolean().default(false),
  timeout_ms: durationMs(1, 60_000).default(5000),
  slow_ms: durationMs(1, 60_000).optional().meta({
    description: 'An answer that takes longer counts as slow; the default is half of timeout_ms.',
  }),
};

const HOST = /^([\p{L}\p{N}_.-]+|\[[0-9a-f:.]+\])$/iu;

function parsed(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

const WITHOUT_SECRETS = 'must not hold a password: name it as credential';

const httpUrl = plainHttpUrl('name it as credential, with credential_header where it is not Authorization');

/** `scheme://user@host:port/path` without password, query or fragment. */
function serverUrl(schemes: readonly string[], path: RegExp, example: string) {
  return z
    .string()
    .max(2000)
    .refine((text) => (parsed(text)?.password ?? '') === '', { error: WITHOUT_SECRETS, abort: true })
    .refine(
      (text) => {
        const url = parsed(text);
        return (
          url !== undefined &&
          schemes.includes(url.protocol.slice(0, -1)) &&
          HOST.test(url.hostname) &&
          url.port !== '0' &&
          path.test(url.pathname) &&
          !/[?#]/.test(text)
        );
      },
      { error: `must look like ${example}` },
    )
    .meta({ examples: [example] });
}

const hostAndPort = z
  .string()
  .max(300)
  .refine(
    (text) => {
      const url = parsed(`tcp://${text}`);
      return url !== undefined && HOST.test(url.hostname) && Number(url.port) > 0 && !/[/?#@]/.test(text);
    },
    { error: 'must look like host:port' },
  )
  .meta({ examples: ['mail.internal:25'] });

const httpCredential = {
  credential_header: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be the name of a header')
    .optional()
    .meta({ description: 'Header that carries the credential; the default is Authorization.' }),
  credential_scheme: z.enum(['bearer', 'basic', 'none']).optional().meta({
    description:
      'What stands before the credential; `basic`: it is user:password. The default is bearer in Authorization, none elsewhere.',
  }),
};

/** Headers that HTTP itself sets, or that carry secrets. */
const RESERVED =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|authorization|proxy-.*|cookie)$/i;
const headers = z
  .record(
    z
      .string()
      .regex(/^[\w-]{1,64}$/, 'must be the name of a header')
      .refine((name) => !RESERVED.test(name), 'cannot be set here; secrets go by credential'),
    z
      .string()
      .max(1000)
      .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'),
  )
  .refine((all) => Object.keys(all).length <= 32, 'at most 32 headers');

const httpExpect = z.strictObject({
  status: z
    .array(z.number().int().min(200).max(599))
    .min(1)
    .max(32)
    .optional()
    .meta({ description: 'Statuses that are good; the default is every 2xx.' }),
  body_contains: z.string().min(1).max(1000).optional(),
  json: z
    .record(z.string().max(200), json)
    .optional()
    .meta({ description: 'Fields that the JSON of the answer must have with these values, among others.' }),
});

export const httpDependency = z.object({
  ...common,
  type: z.literal('http'),
  target: plainHttpUrl('name it as credential, with credential_header or credential_query').optional(),
  credential: credential.optional(),
  options: z
    .strictObject({
      method: z.enum(['GET', 'HEAD', 'POST', 'OPTIONS']).default('GET'),
      headers: headers.default({}),
      body: z.string().max(8192).optional(),
      expect: httpExpect.default({}),
      ...httpCredential,
      credential_query: z
        .string()
        .regex(/^[\w.-]{1,64}$/, 'must be the name of a query parameter')
        .optional()
        .meta({ description: 'Query parameter that carries the credential, where no header can.' }),
      tls: tlsMode.default('verify'),
    })
    .refine((o) => !o.credential_query || (!o.credential_header && !o.credential_scheme), {
      path: ['credential_query'],
      error: 'not together with credential_header or credential_scheme',
    })
    .refine((o) => o.body === undefined || o.method === 'POST', {
      path: ['body'],
      error: 'needs the method POST',
    })
    .refine((o) => o.method !== 'HEAD' || (!o.expect.body_contains && !o.expect.json), {
      path: ['expect'],
      error: 'no body comes back from HEAD',
    })
    .prefault({}),
});

export const tcpDependency = z.object({
  ...common,
  type: z.literal('tcp'),
  target: hostAndPort.optional(),
  options: z.strictObject({ tls: tlsMode.optional() }).prefault({}),
});

const driverTls = z
  .enum(['off', 'verify', 'insecure'])
  .default('off')
  .meta({ description: '`off`: no TLS; `insecure`: TLS with any certificate.' });
const database = (scheme: string, port: number) =>
  serverUrl(
    scheme === 'postgres' ? ['postgres', 'postgresql'] : [scheme],
    /^\/?[^/]*$/,
    `${scheme}://user@host:${port}/database`,
  );

export const postgresDependency = z.object({
  ...common,
  type: z.literal('postgres'),
  target: database('postgres', 5432).optional(),
  credential: credential.optional(),
  options: z.strictObject({ tls: driverTls }).prefault({}),
});

export const mysqlDependency = z.object({
  ...common,
  type: z.literal('mysql'),
  target: database('mysql', 3306).optional(),
  credential: credential.optional(),
  options: z.strictObject({ tls: driverTls }).prefault({}),
});

export const redisDependency = z.object({
  ...common,
  type: z.literal('redis'),
  target: serverUrl(['redis', 'rediss'], /^\/?\d{0,5}$/, 'redis://host:6379/0').optional(),
  credential: credential.optional(),
  options: z.strictObject({ tls: tlsMode.default('verify') }).prefault({}),
});

export const natsDependency = z.object({
  ...common,
  type: z.literal('nats'),
  target: serverUrl(['nats', 'tls'], /^\/?$/, 'nats://host:4222').optional(),
  credential: credential.optional().meta({
    description:
      'A token, the password of the user in the target, an nkey seed, or the text of a .creds file.',
  }),
  options: z.strictObject({ tls: tlsMode.default('verify') }).prefault({}),
});

const agentDependency = z.object({
  ...common,
  type: z.literal('agent'),
  target: userId('agent_id')
    .optional()
    .meta({ description: 'Id of an agent, or the name of a group: then one instance that works is enough.' }),
});

export const mcpDependency = z.object({
  ...common,
  type: z.literal('mcp'),
  target: httpUrl.optional(),
  credential: credential.optional(),
  options: z
    .strictObject({ headers: headers.default({}), ...httpCredential, tls: tlsMode.default('verify') })
    .prefault({}),
});

export const a2aDependency = z.object({
  ...common,
  type: z.literal('a2a'),
  target: httpUrl.optional().meta({
    description:
      'The agent, or its card: to a URL that does not end in .json, /.well-known/agent-card.json is added.',
  }),
  credential: credential.optional(),
  options: z
    .strictObject({ headers: headers.default({}), ...httpCredential, tls: tlsMode.default('verify') })
    .prefault({}),
});

/** What is probed depends on the type. Without `target` a dependency is only a name: nothing is probed. */
export const dependency = z
  .discriminatedUnion('type', [
    httpDependency,
    tcpDependency,
    postgresDependency,
    mysqlDependency,
    redisDependency,
    natsDependency,
    agentDependency,
    mcpDependency,
    a2aDependency,
  ])
  .meta({ id: 'Dependency' });
export type Dependency = z.output<typeof dependency>;
