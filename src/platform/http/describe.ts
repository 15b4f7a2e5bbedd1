import { applyDecorators, HttpCode } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode, wireCode } from '../../core/errors.js';

/** The wire form of an error, for the documentation. `problemOf` makes it. */
export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z
      .string()
      .meta({ description: 'stable; made for programs', examples: ['REACH_VALIDATION_FAILED'] }),
    retryable: z.boolean().meta({ description: 'whether the same call may succeed later' }),
    trace_id: z.string(),
    task_id: z.string().optional(),
    attempt: z.int().optional(),
    agent_id: z.string().optional(),
    errors: z
      .array(z.object({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'every bad place of the request, by JSON pointer' }),
    retry_after_ms: z.int().optional(),
  })
  .meta({ id: 'Problem' });

/** Status, schema and summary of the answer to a good call. */
export function Answers(status: number, schema: z.ZodType, summary: string) {
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ summary }),
    ApiResponse({ status, description: summary, standardSchema: schema }),
  );
}

/** The codes that a call may answer with when it fails, documented by status. */
export function Fails(...codes: ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return applyDecorators(
    ...[...byStatus].map(([status, some]) =>
      ApiResponse({
        status,
        description: some.map((code) => `\`${wireCode(code)}\`: ${ERROR_CATALOGUE[code].title}`).join('; '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      }),
    ),
  );
}
