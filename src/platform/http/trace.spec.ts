import { traceOf } from './trace.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceOf', () => {
  test('continues a good traceparent with a span of its own', () => {
    const trace = traceOf(`00-${traceId}-${spanId}-01`);
    expect(trace).toMatchObject({ traceId, parentSpanId: spanId, sampled: true });
    expect(trace.spanId).not.toBe(spanId);
    expect(trace.traceparent).toBe(`00-${traceId}-${trace.spanId}-01`);
  });

  test('a later version with more fields is understood as far as version 00 goes', () => {
    expect(traceOf(`01-${traceId}-${spanId}-00-more`)).toMatchObject({ traceId, sampled: false });
  });

  test.each([
    undefined,
    '',
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}`,
  ])('%s starts a new trace', (header) => {
    const trace = traceOf(header);
    expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(trace.traceId).not.toBe(traceId);
    expect(trace).not.toHaveProperty('parentSpanId');
  });
});
