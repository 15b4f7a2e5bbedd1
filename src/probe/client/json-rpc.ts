import { parseJson } from './http-verdict.js';
import { ProbeFailure } from './probe-failure.js';
import type { HttpAnswer } from './safe-http.js';

export type RpcReply = { result: unknown } | { error: { code: unknown; message: string; data?: unknown } };

/**
 * The reply to a JSON-RPC call over Streamable HTTP: a JSON body, or an event of a stream, which may go on for
 * ever and is left as soon as the reply has come.
 *
 * @throws ProbeFailure `wrong_answer`, `too_large`, or an error of the connection
 */
export async function rpcAnswer(answer: HttpAnswer, id: number): Promise<RpcReply> {
  const type = String(answer.headers['content-type'] ?? '');
  if (!type.startsWith('text/event-stream')) {
    const reply = replyOf(parseJson(await answer.text()), id);
    if (reply) return reply;
    throw new ProbeFailure('wrong_answer', 'the answer is no reply to the call');
  }
  let event: string[] = [];
  for await (const line of answer.lines()) {
    if (line.startsWith('data:')) event.push(line.slice(5));
    if (line !== '') continue;
    const reply = event.length > 0 ? replyOf(parseJson(event.join('\n')), id) : undefined;
    if (reply) return reply;
    event = [];
  }
  throw new ProbeFailure('wrong_answer', 'the stream of events ended without a reply');
}

function replyOf(message: unknown, id: number): RpcReply | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const reply = message as { id?: unknown; result?: unknown; error?: unknown };
  const { error } = reply;
  // An error that came before the call was read has the id null.
  if (typeof error === 'object' && error !== null && (reply.id === id || reply.id === null)) {
    const { code, message: said, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    return { error: { code, message: typeof said === 'string' ? said : 'without a message', data } };
  }
  return reply.id === id && reply.result !== undefined ? { result: reply.result } : undefined;
}
