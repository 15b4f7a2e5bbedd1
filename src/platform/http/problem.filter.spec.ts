import { ERROR_CODES, ReachError } from '../../core/errors.js';
import { problem } from './describe.js';
import { problemOf } from './problem.filter.js';

describe('problemOf', () => {
  test.each(ERROR_CODES)('%s renders as the documented shape', (code) => {
    const body = problemOf(new ReachError(code, 'why'), '/api/v1/x', 'f'.repeat(32));
    expect(problem.strict().safeParse(body)).toMatchObject({ success: true });
    expect(body['code']).toBe(`REACH_${code}`);
  });

  test('every extra field is told, and nothing else: the cause stays inside', () => {
    const error = new ReachError('QUEUE_FULL', 'full', {
      task_id: 't',
      attempt: 2,
      agent_id: 'a',
      errors: [{ pointer: '/x', detail: 'y' }],
      retry_after_ms: 5,
      retryable: false,
      cause: new Error('password'),
    });
    const body = problemOf(error, '/', 't');
    expect(problem.strict().safeParse(body)).toMatchObject({ success: true });
    expect(body).toMatchObject({
      task_id: 't',
      attempt: 2,
      agent_id: 'a',
      retry_after_ms: 5,
      retryable: false,
    });
    expect(JSON.stringify(body)).not.toContain('password');
  });

  test('a lone surrogate in a detail cannot break the answer', () => {
    expect(problemOf(new ReachError('INTERNAL', 'x\ud800'), '/', 't')['detail']).toBe('x\ufffd');
  });
});
