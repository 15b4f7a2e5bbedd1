import { z } from 'zod';
import { capabilityName, json, namespace, page, pageQuery, timestamp } from '../platform/wire/primitives.js';

export const switchBody = z
  .object({ namespace, reason: z.string().max(500).default('') })
  .default({ namespace: 'default', reason: '' })
  .meta({ id: 'CapabilitySwitchRequest' });

export const capabilityView = z
  .object({
    namespace: z.string(),
    capability: z.string(),
    agents: z.number().int(),
    reachable: z.number().int().meta({ description: 'agents that could be offered work now' }),
    paused: z.boolean(),
    pause_reason: z.string().optional(),
  })
  .meta({ id: 'Capability' });
export const capabilityDetail = capabilityView
  .extend({
    aliases: z.array(z.string()),
    equivalents: z
      .array(z.string())
      .meta({ description: 'what agents declare to do instead (their `fallbacks`); a policy decides' }),
    versions: z
      .array(
        z.object({
          version: z.string().optional(),
          agents: z.array(z.string()),
          description: z.string().optional(),
          input_schema: z.record(z.string(), json).optional(),
          output_schema: z.record(z.string(), json).optional(),
        }),
      )
      .meta({ description: 'as declared; of one version, by the agent that registered last' }),
  })
  .meta({ id: 'CapabilityDetail' });

export const aliasBody = z
  .object({ namespace, capability: capabilityName })
  .meta({ id: 'CapabilityAliasRequest' });
export const aliasView = z
  .object({
    namespace: z.string(),
    alias: z.string(),
    capability: z.string(),
    changed_by: z.string(),
    changed_at: timestamp,
  })
  .meta({ id: 'CapabilityAlias' });
export const aliasesQuery = pageQuery.extend({ namespace });
export const aliasesPage = page(aliasView).meta({ id: 'CapabilityAliasPage' });

export const capabilitiesAnswer = z.object({ items: z.array(capabilityView) }).meta({ id: 'CapabilityList' });
