import 'reflect-metadata';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import { ReachError } from '../../src/core/errors.js';
import { LargeBody } from '../../src/platform/http/body-limit.js';
import { Answers, Fails } from '../../src/platform/http/describe.js';
import { openApiOf } from '../../src/platform/http/openapi.js';
import { Trace, type TraceContext } from '../../src/platform/http/trace.js';
import { pageQuery, userId } from '../../src/platform/wire/primitives.js';
import { type TestApp, testApp } from '../support/http-app.js';

const noteBody = z
  .strictObject({
    title: userId('title', 50),
    payload: z.unknown().optional(),
    count: z.number().int().min(0).default(1),
    to: z.union([z.string(), z.object({ name: z.string() })]).optional(),
  })
  .meta({ id: 'NoteRequest' });
type NoteBody = z.output<typeof noteBody>;
const noteAnswer = z.object({ title: z.string(), count: z.int(), trace_id: z.string() }).meta({ id: 'Note' });

@Controller('notes')
class NotesController {
  @Post()
  @Answers(201, noteAnswer, 'Take a note')
  @Fails('VALIDATION_FAILED', 'PAYLOAD_TOO_LARGE')
  take(@Body({ schema: noteBody }) body: NoteBody, @Trace() trace: TraceContext) {
    return { title: body.title, count: body.count, trace_id: trace.traceId };
  }

  @Post('batch')
  @LargeBody()
  @Answers(200, z.object({ bytes: z.int() }), 'Take a large note')
  batch(@Body() body: unknown) {
    return { bytes: JSON.stringify(body).length };
  }

  @Get()
  @Answers(200, z.object({ limit: z.int() }), 'List notes')
  list(@Query({ schema: pageQuery }) query: z.output<typeof pageQuery>) {
    return { limit: query.limit };
  }

  @Get('broken')
  broken(): never {
    throw new Error('secret detail: password=hunter2');
  }

  @Get('away')
  away(): never {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  }

  @Get('full')
  full(): never {
    throw new ReachError('QUEUE_FULL', 'lane x is full', { retry_after_ms: 1500, task_id: 't' });
  }

  @Get(':note_id')
  @Answers(200, z.object({ note_id: z.string() }), 'One note')
  one(@Param('note_id', { schema: userId('note_id', 100) }) noteId: string) {
    return { note_id: noteId };
  }
}

const LIMIT = 4096;
let server: TestApp;
let port: number;

beforeAll(async () => {
  server = await testApp(
    { controllers: [NotesController] },
    { REACH_BODY_LIMIT_BYTES: String(LIMIT), REACH_BATCH_BODY_LIMIT_BYTES: String(4 * LIMIT) },
  );
  port = Number(new URL(server.url).port);
});
afterAll(() => server.close());

/** Sends a body as it is, byte by byte, without any client-side JSON. */
function post(path: string, raw: string | Uint8Array, contentType = 'application/json') {
  const headers = { 'content-type': contentType };
  return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: raw as string });
}

interface Problem {
  code: string;
  status: number;
  detail: string;
  trace_id: string;
  errors: { pointer: string; detail: string }[];
}

async function problemIn(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  const body = (await response.json()) as Problem;
  expect(body.trace_id).toBe(response.headers.get('x-trace-id'));
  expect(body.status).toBe(response.status);
  return body;
}

describe('bodies', () => {
  const sized = (bytes: number) => {
    const empty = JSON.stringify({ title: 'a', payload: '' });
    return JSON.stringify({ title: 'a', payload: 'x'.repeat(bytes - empty.length) });
  };

  test.each([
    [LIMIT - 1, 201],
    [LIMIT, 201],
    [LIMIT + 1, 413],
  ])('a body of %i bytes answers %i', async (bytes, status) => {
    const raw = sized(bytes);
    expect(Buffer.byteLength(raw)).toBe(bytes);
    const response = await post('/api/v1/notes', raw);
    expect(response.status).toBe(status);
    if (status === 413) expect((await problemIn(response)).code).toBe('REACH_PAYLOAD_TOO_LARGE');
  });

  test('a batch call takes more, and has a limit too', async () => {
    expect((await post('/api/v1/notes/batch', JSON.stringify('x'.repeat(LIMIT * 2)))).status).toBe(200);
    expect((await post('/api/v1/notes/batch', JSON.stringify('x'.repeat(LIMIT * 5)))).status).toBe(413);
  });

  test('50 MB are refused without being kept, and the server goes on', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const call = httpRequest(
        {
          port,
          host: '127.0.0.1',
          path: '/api/v1/notes',
          method: 'POST',
          headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
        },
        (response) => resolve(response.statusCode ?? 0),
      );
      call.on('error', reject);
      const chunk = 'x'.repeat(1_000_000);
      for (let i = 0; i < 50; i++) call.write(chunk);
      call.end();
    });
    expect(answer).toBe(413);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  });

  test('nesting 200 000 deep is refused', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const response = await post('/api/v1/notes', deep.slice(0, LIMIT));
    expect((await problemIn(response)).code).toBe('REACH_VALIDATION_FAILED');
  });

  test.each([
    ['__proto__', '{"title":"a","payload":{"x":[{"__proto__":{"admin":true}}]}}', '/payload/x/0/__proto__'],
    ['__proto__ in escapes', '{"title":"a","payload":{"\\u005f_proto__":1}}', '/payload/__proto__'],
    [
      'constructor.prototype',
      '{"title":"a","payload":{"constructor":{"prototype":{}}}}',
      '/payload/constructor',
    ],
    ['NUL in a string', '{"title":"a","payload":{"a/b":["ok","x\\u0000y"]}}', '/payload/a~1b/1'],
    ['NUL in a key', '{"title":"a","payload":{"x\\u0000":1}}', '/payload/x\0'],
    ['a lone high surrogate', '{"title":"a","payload":"\\ud83d"}', '/payload'],
    ['a lone low surrogate', '{"title":"\\uDE00"}', '/title'],
    ['a number out of range', '{"title":"a","payload":1e999}', '/payload'],
    ['malformed JSON', '{"title":', ''],
    ['two values', '{} {}', ''],
  ])('%s: 400 with the pointer', async (_what, raw, pointer) => {
    const response = await post('/api/v1/notes', raw);
    expect(response.status).toBe(400);
    const body = await problemIn(response);
    expect(body.code).toBe('REACH_VALIDATION_FAILED');
    expect(body.errors[0]?.pointer).toBe(pointer);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  test('bytes that are not UTF-8: 400', async () => {
    const raw = Buffer.concat([
      Buffer.from('{"title":"'),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from('"}'),
    ]);
    expect((await post('/api/v1/notes', new Uint8Array(raw))).status).toBe(400);
  });

  test.each([
    ['an emoji in escapes', '{"title":"\\ud83d\\ude00"}'],
    ['duplicate keys: the last one counts', '{"title":7,"title":"b"}'],
    ['a harmless constructor key', '{"title":"a","payload":{"constructor":"ACME"}}'],
    ['escaped quotes and brackets', JSON.stringify({ title: 'a', payload: '[[[[{{{{\\"\\\\'.repeat(40) })],
    ['64 levels', `{"title":"a","payload":${'['.repeat(63)}${']'.repeat(63)}}`],
  ])('%s: fine', async (_what, raw) => {
    expect((await post('/api/v1/notes', raw)).status).toBe(201);
  });

  test('another media type: 415 that names the right one', async () => {
    const response = await post('/api/v1/notes', 'title=a', 'application/x-www-form-urlencoded');
    expect(response.status).toBe(415);
    expect((await problemIn(response)).detail).toContain('application/json');
  });

  test('no body at all: 400', async () => {
    const none = await fetch(`http://127.0.0.1:${port}/api/v1/notes`, { method: 'POST' });
    expect(none.status).toBe(400);
    expect((await post('/api/v1/notes', '')).status).toBe(400);
  });
});

describe('validation', () => {
  test('every bad field is named at once', async () => {
    const response = await post('/api/v1/notes', '{"title":"","count":-1,"extra":1,"to":{"name":5}}');
    const body = await problemIn(response);
    const pointers = body.errors.map((error) => error.pointer).sort();
    expect(pointers).toEqual(['/count', '/extra', '/title', '/to/name']);
  });

  test('defaults are applied', async () => {
    const response = await post('/api/v1/notes', '{"title":"a"}');
    expect(await response.json()).toMatchObject({ title: 'a', count: 1 });
  });

  test('a bad query parameter is named', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes?limit=0`);
    const body = await problemIn(response);
    expect(body.errors[0]).toMatchObject({ pointer: '/limit' });
    expect(body.errors[0]?.detail).toContain('query parameter limit');
  });
});

describe('ids in paths', () => {
  test.each([
    'a:b',
    'a:b:c',
    '123',
    '0123',
    'x/y',
    'é',
    'e\u0301',
    '😀',
    'a b',
    'a%b',
    'a?b#c',
    '...',
    "a'b",
  ])('%s comes through as it is', async (id) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes/${encodeURIComponent(id)}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ note_id: id });
  });

  test.each([
    ['NUL', 'a%00b', 400],
    ['percent that is none', '%zz', 400],
    ['bytes that are not UTF-8', '%ff', 400],
    ['encoded dots', '%2e%2e', 400],
    ['very long', 'x'.repeat(10_000), 400],
    ['empty', '', 400],
  ])('%s: %s', async (_what, path, status) => {
    // A raw request line, since fetch would tidy the path up.
    const answer = await raw(`GET /api/v1/notes/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain('application/problem+json');
  });

  test('NUL in a query: 400', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes?cursor=a%00b`);
    expect((await problemIn(response)).errors[0]?.pointer).toBe('/cursor');
  });

  test('a request that is no HTTP gets a problem document', async () => {
    expect(await raw('GARBAGE\r\n\r\n')).toContain('REACH_VALIDATION_FAILED');
    const long = await raw(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(long).toMatch(/^HTTP\/1.1 431 /);
  });
});

describe('errors', () => {
  test('a bug answers 500 and reveals nothing', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes/broken`);
    expect(response.status).toBe(500);
    const text = JSON.stringify(await problemIn(response));
    expect(text).toContain('REACH_INTERNAL');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('.ts');
  });

  test('a store that is away answers 503 with Retry-After', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes/away`);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await problemIn(response)).toMatchObject({ code: 'REACH_UNAVAILABLE', retryable: true });
  });

  test('a catalogue error renders with its fields', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes/full`);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await problemIn(response)).toMatchObject({
      code: 'REACH_QUEUE_FULL',
      detail: 'lane x is full',
      retryable: true,
      task_id: 't',
      retry_after_ms: 1500,
    });
  });

  test('an unknown path is 404, a wrong method 405', async () => {
    expect((await problemIn(await fetch(`http://127.0.0.1:${port}/api/v1/nothing`))).code).toBe(
      'REACH_NOT_FOUND',
    );
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes/a%3Ab`, { method: 'DELETE' });
    expect((await problemIn(response)).code).toBe('REACH_METHOD_NOT_ALLOWED');
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('traces', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

  test('a traceparent is continued', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
      body: '{"title":"a"}',
    });
    expect(response.headers.get('x-trace-id')).toBe(traceId);
    expect(await response.json()).toMatchObject({ trace_id: traceId });
  });
});

describe('metrics', () => {
  test('series do not grow with ids, paths or methods', async () => {
    const series = async () =>
      (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
        .split('\n')
        .filter((line) => line.startsWith('reach_http_request_duration_seconds_count')).length;
    await fetch(`http://127.0.0.1:${port}/api/v1/notes/first`);
    await fetch(`http://127.0.0.1:${port}/nowhere`);
    await series();
    const before = await series();
    for (let i = 0; i < 20; i++) {
      await fetch(`http://127.0.0.1:${port}/api/v1/notes/n${i}`);
      await fetch(`http://127.0.0.1:${port}/nowhere/${i}`);
    }
    expect(await series()).toBe(before);
  });
});

describe('openapi', () => {
  test('bodies, queries, paths, answers and failures come from the schemas', () => {
    // any: a JSON document is looked at from outside
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const document = openApiOf(server.app) as any;
    const take = document.paths['/api/v1/notes'].post;
    expect(take.summary).toBe('Take a note');
    expect(take.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/NoteRequest',
    });
    expect(take.responses['201'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Note',
    });
    expect(take.responses['413'].content['application/problem+json'].schema).toEqual({
      $ref: '#/components/schemas/Problem',
    });
    expect(document.components.schemas.NoteRequest).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { title: { type: 'string', maxLength: 50 }, count: { type: 'integer', default: 1 } },
    });
    expect(document.components.schemas.NoteRequest.required).toEqual(['title']);
    const parameters = document.paths['/api/v1/notes'].get.parameters as {
      in: string;
      name: string;
      required: boolean;
    }[];
    const names = parameters.map((p) => `${p.in}:${p.name}:${p.required}`);
    expect(names).toEqual(['query:limit:false', 'query:cursor:false']);
    expect(document.paths['/api/v1/notes/{note_id}'].get.parameters[0]).toMatchObject({
      in: 'path',
      name: 'note_id',
      required: true,
      schema: { type: 'string', maxLength: 100 },
    });
    expect(document.paths['/livez']).toBeUndefined();
  });
});

function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => {
      answer += data.toString();
      if (!/connection: close/i.test(text)) socket.end();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}
