import { ReachError } from '../core/errors.js';

/**
 * Lets JSON text of at most `limitBytes` pass.
 * @param field the field of the body that it came in
 * @throws ReachError PAYLOAD_TOO_LARGE
 */
export function requireSize(field: string, text: string, limitBytes: number): void {
  if (text.length * 3 <= limitBytes) return; // no character takes more than three bytes a UTF-16 unit
  const bytes = Buffer.byteLength(text);
  if (bytes > limitBytes)
    throw new ReachError(
      'PAYLOAD_TOO_LARGE',
      `${field} has ${bytes} bytes, the limit is ${limitBytes}; send a reference to the data instead`,
      { errors: [{ pointer: `/${field}`, detail: `${bytes} bytes, at most ${limitBytes}` }] },
    );
}
