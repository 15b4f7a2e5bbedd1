import { z } from 'zod';
import { CATCH_UPS, OVERLAPS } from '../../core/schedule.js';
import {
  durationMs,
  namespace,
  page,
  pageQuery,
  timestamp,
  userId,
  uuid,
} from '../../platform/wire/primitives.js';
import { checkTarget, taskFields } from '../tasks.wire.js';

export const FIRING_OUTCOMES = ['fired', 'triggered', 'skipped', 'missed', 'refused'] as const;

export const scheduleId = userId('schedule_id');

const { namespace: _, ...ownFields } = taskFields;

/** What is submitted at each fire time: a task without what a schedule says itself. */
export const scheduledTask = z
  .strictObject(ownFields)
  .superRefine((task, ctx) => checkTarget({ ...task, namespace: '' }, ctx));
export type ScheduledTask = z.output<typeof scheduledTask>;

const timing = {
  cron: z
    .string()
    .max(200)
    .meta({
      description:
        'five fields (minute, hour, day of the month, month, day of the week), six with seconds first, or @daily and the like',
      examples: ['30 2 * * MON-FRI'],
    }),
  timezone: z.string().max(64).default('UTC').meta({ description: 'an IANA name, such as Europe/Berlin' }),
  start_at: timestamp.optional().meta({ description: 'no fire time before it' }),
  end_at: timestamp.optional().meta({ description: 'no fire time after it' }),
  jitter_ms: durationMs(0, 3_600_000)
    .default(0)
    .meta({ description: 'each firing is put off by up to this, but never to the next fire time' }),
};

export const scheduleBody = z
  .object({
    namespace,
    ...timing,
    catch_up: z
      .enum(CATCH_UPS)
      .default('last')
      .meta({
        description:
          'fire times that passed while nobody could fire them: none fires unless it is less than a minute late, ' +
          'the last one fires, or all fire, up to catch_up_limit',
      }),
    catch_up_limit: z.number().int().min(1).max(100).default(10),
    overlap: z.enum(OVERLAPS).default('allow').meta({
      description:
        'while a task of an earlier firing has not ended: fire all the same, skip, or let one wait for it to end',
    }),
    task: scheduledTask,
  })
  .meta({ id: 'ScheduleRequest' });
export type ScheduleBody = z.output<typeof scheduleBody>;

const scheduleFields = {
  namespace: z.string(),
  schedule_id: z.string(),
  cron: z.string(),
  timezone: z.string(),
  start_at: timestamp.optional(),
  end_at: timestamp.optional(),
  jitter_ms: z.number().int(),
  catch_up: z.enum(CATCH_UPS),
  catch_up_limit: z.number().int(),
  overlap: z.enum(OVERLAPS),
  task: scheduledTask,
  paused: z.boolean(),
  pause_reason: z.string().optional(),
  next_at: timestamp.optional().meta({ description: 'the next fire time; absent: there is none any more' }),
  waiting_at: timestamp
    .optional()
    .meta({ description: 'a fire time that waits for the task of an earlier one to end' }),
  problem: z.string().optional().meta({ description: 'why it could not fire the last time' }),
  changed_by: z.string(),
  changed_at: timestamp,
};

export const scheduleView = z.object(scheduleFields).meta({ id: 'Schedule' });

export const firingView = z
  .object({
    fire_at: timestamp.meta({ description: 'the fire time by the schedule' }),
    outcome: z.enum(FIRING_OUTCOMES),
    task_id: uuid.optional(),
    detail: z.string().optional(),
    noted_at: timestamp.meta({ description: 'when it fired, or was found not to' }),
  })
  .meta({ id: 'ScheduleFiring' });

export const scheduleDetail = z
  .object({
    ...scheduleFields,
    next: z.array(timestamp).meta({ description: 'the next five fire times' }),
    firings: z.array(firingView).meta({ description: 'the last fifty, newest first' }),
  })
  .meta({ id: 'ScheduleDetail' });

export const schedulesQuery = pageQuery.extend({ namespace });
export const schedulesPage = page(scheduleView).meta({ id: 'SchedulePage' });

export const schedulePauseBody = z
  .object({ namespace, reason: z.string().max(500).default('') })
  .default({ namespace: 'default', reason: '' })
  .meta({ id: 'SchedulePauseRequest' });

export const triggerAnswer = z
  .object({ schedule_id: z.string(), task_id: uuid })
  .meta({ id: 'ScheduleTriggerAnswer' });
