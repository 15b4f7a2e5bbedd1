import { z } from 'zod';
import { SourceError, wrongIn } from './registry-source.js';

/*
 * Where the three generations of Nacos' HTTP API keep what is needed, as https://nacos.io/en/docs has them: v1 (Nacos
 * 1.x and 2.x), v2 (2.2 and later), v3 (3.x). From v2 on answers are wrapped in {code, message, data}.
 */

export const nacosHost = z.object({
  ip: z.string(),
  port: z.number().int(),
  healthy: z.boolean().default(true),
  enabled: z.boolean().default(true),
  metadata: z.record(z.string(), z.string().nullable()).nullish(),
});

const hosts = z.object({ hosts: z.array(z.unknown()).nullish() }).transform((o) => o.hosts ?? []);
const wrapped = <T>(data: z.ZodType<T>) =>
  z.object({ code: z.literal(0), data }).transform((answer) => answer.data);
const count = z.coerce.number().int().min(0);

interface Page {
  total: number;
  names: string[];
}

interface NacosApi {
  servicesPath: string;
  services: z.ZodType<Page>;
  instancesPath: string;
  instances: z.ZodType<unknown[]>;
}

export const NACOS_APIS: Readonly<Record<'v1' | 'v2' | 'v3', NacosApi>> = {
  v1: {
    servicesPath: '/v1/ns/service/list',
    services: z
      .object({ count, doms: z.array(z.string()).nullish() })
      .transform((o) => ({ total: o.count, names: o.doms ?? [] })),
    instancesPath: '/v1/ns/instance/list',
    instances: hosts,
  },
  v2: {
    servicesPath: '/v2/ns/service/list',
    services: wrapped(
      z
        .object({ count, services: z.array(z.string()).nullish() })
        .transform((o) => ({ total: o.count, names: o.services ?? [] })),
    ),
    instancesPath: '/v2/ns/instance/list',
    instances: wrapped(hosts),
  },
  v3: {
    servicesPath: '/v3/admin/ns/service/list',
    services: wrapped(
      z
        .object({ totalCount: count, pageItems: z.array(z.object({ name: z.string() })).nullish() })
        .transform((o) => ({ total: o.totalCount, names: (o.pageItems ?? []).map((item) => item.name) })),
    ),
    instancesPath: '/v3/client/ns/instance/list',
    instances: wrapped(z.array(z.unknown())),
  },
};

/** Of newer servers first; a server that does not know one answers 404 or the like. */
export const LOGIN_PATHS = ['/v3/auth/user/login', '/v1/auth/login'] as const;

const token = z.object({ accessToken: z.string().min(1), tokenTtl: z.number().min(1).default(18_000) });

/** What a login answers; `ttlMs`: how long the token is good. */
export function tokenOf(body: unknown): { token: string; ttlMs: number } {
  const inner = (body as { data?: unknown } | null)?.data ?? body;
  const { accessToken, tokenTtl } = parsedBy(token, 'the login', inner);
  return { token: accessToken, ttlMs: tokenTtl * 1000 };
}

/** @throws SourceError naming the place that is wrong, or the reason that Nacos gives */
export function parsedBy<T>(schema: z.ZodType<T>, what: string, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'number' && code !== 0)
    throw new SourceError(`nacos refused ${what}: ${code} ${String(message).slice(0, 200)}`);
  throw new SourceError(`nacos answered ${what} with something else: ${wrongIn(result.error)}`);
}
