/* How a deep ping restrains itself: it runs a tool of the agent, which costs the agent something. */

/** What an agent said about its load with its last heartbeat. */
export interface Load {
  poolUsage: number;
  queued: number;
}

const BUSY_USAGE = 0.8;
const HALF_USAGE = 0.5;
const NIGHT = { fromHour: 2, toHour: 6 };
const NIGHT_FACTOR = 4;

/** Whether the agent has room for a deep ping at all. An agent that says nothing about its load gets none. */
export function hasRoomForPing(load: Load | undefined): boolean {
  return load !== undefined && load.poolUsage < BUSY_USAGE && load.queued === 0;
}

/**
 * Time between deep pings: the interval asked for while the agent is mostly idle, twice that from half its pool on,
 * and four times as long between 02:00 and 06:00 local time.
 */
export function deepIntervalMs(intervalMs: number, load: Load, localHour: number): number {
  const byLoad = load.poolUsage < HALF_USAGE ? 1 : 2;
  const byHour = localHour >= NIGHT.fromHour && localHour < NIGHT.toHour ? NIGHT_FACTOR : 1;
  return intervalMs * byLoad * byHour;
}
