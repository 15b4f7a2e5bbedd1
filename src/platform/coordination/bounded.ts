/**
 * Waits for `promise`, but no longer than about `timeoutMs`.
 *
 * When time is up, the event loop first gets one turn to deliver what has arrived already: after this process
 * itself was busy for too long, its timers fire before its sockets are read, and an answer that lies ready
 * must not count as missing.
 *
 * @param onTimeout makes the error to reject with
 */
export function bounded<T>(promise: Promise<T>, timeoutMs: number, onTimeout: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(onTimeout())), timeoutMs);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
