/**
 * The server cannot start, for a reason that is no bug: something outside of it is taken, away or not as it
 * must be. The message is all that the person at the terminal needs; a stack would only hide it.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
