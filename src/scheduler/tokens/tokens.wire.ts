import { z } from 'zod';

export const introspectBody = z
  .object({ token: z.string().min(1).max(8192) })
  .meta({ id: 'IntrospectRequest' });

/** As RFC 7662 has it: of a token that does not hold, nothing but that. */
export const introspectAnswer = z
  .union([
    z.object({
      active: z.literal(true),
      iss: z.string(),
      sub: z.string().meta({ description: 'the task' }),
      aud: z.array(z.string()).meta({ description: 'dependencies that the agent declared, by name' }),
      jti: z.string().meta({ description: 'the delivery' }),
      exp: z.number().int().meta({ description: 'seconds since 1970' }),
      namespace: z.string(),
      agent_id: z.string(),
      capability: z.string(),
    }),
    z.object({ active: z.literal(false) }),
  ])
  .meta({ id: 'IntrospectAnswer' });
