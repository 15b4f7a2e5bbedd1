import { z } from 'zod';
import { json, namespace, page, pageQuery, timestamp, userId, uuid } from '../platform/wire/primitives.js';
import { BLAMES, STAGES } from '../core/attribution.js';

export const attributionView = z
  .object({
    attribution_id: uuid,
    namespace: z.string(),
    task_id: uuid,
    delivery_id: z.string().optional(),
    attempt: z.number().int(),
    final: z.boolean().meta({ description: 'true: this row also ended the task' }),
    stage: z.enum(STAGES),
    code: z.string(),
    blame: z.enum(BLAMES),
    agent_id: z.string().optional(),
    dependency: z.string().optional(),
    capability: z.string(),
    message: z.string(),
    evidence: z.record(z.string(), json),
    at: timestamp,
  })
  .meta({ id: 'Attribution' });
export const attributionsPage = page(attributionView).meta({ id: 'AttributionPage' });

const filters = {
  namespace,
  task_id: uuid.optional(),
  code: z.string().max(64).optional(),
  blame: z.enum(BLAMES).optional(),
  agent_id: userId('agent_id').optional(),
  dependency: userId('dependency').optional(),
  capability: z.string().max(200).optional(),
  since: timestamp.optional(),
  until: timestamp.optional(),
};
export const attributionsQuery = pageQuery.extend(filters);
export type AttributionFilters = Omit<z.output<typeof attributionsQuery>, 'limit' | 'cursor'>;

export const GROUPS = ['code', 'blame', 'agent_id', 'dependency', 'capability', 'stage'] as const;
export const summaryQuery = z.object({ ...filters, group_by: z.enum(GROUPS).default('code') });
export const summaryAnswer = z
  .object({
    group_by: z.enum(GROUPS),
    groups: z.array(
      z.object({
        key: z.string().nullable(),
        attempts: z.number().int(),
        tasks: z.number().int(),
        last_at: timestamp,
      }),
    ),
  })
  .meta({ id: 'AttributionSummary' });

export const storyEntry = z
  .object({
    position: z.number().int().meta({ description: 'place in the story, from 1; the SSE event id' }),
    at: timestamp,
    kind: z.string().meta({
      description:
        'accepted, scheduled, fallback, offered, acknowledged, progress, closed, attribution, agent_state, ended, waiting',
    }),
    text: z.string(),
    delivery_id: z.string().optional(),
    agent_id: z.string().optional(),
    data: z.record(z.string(), json).optional(),
  })
  .meta({ id: 'StoryEntry' });
export const explainAnswer = z
  .object({
    task_id: uuid,
    state: z.string(),
    headline: z.string().meta({ description: 'one sentence a person can act on' }),
    story: z.array(storyEntry),
    attributions: z.array(attributionView),
  })
  .meta({ id: 'Explanation' });
