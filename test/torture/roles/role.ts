/*
 * A role is a process of the run beside the dispatchers: it takes its orders as JSON in argv, hears further ones
 * over the channel to the main process, and ends when that closes.
 */

/** What the main process ordered at the start. */
export function ordersOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}

/** Calls `listener` with each further order; ends this process when nobody is left to give any. */
export function onOrder(listener: (order: string) => void): void {
  process.on('message', (order) => typeof order === 'string' && listener(order));
  process.on('disconnect', () => process.exit(0));
}

/** Tells the main process. */
export function tell(message: string): void {
  if (process.connected) process.send?.(message);
}
