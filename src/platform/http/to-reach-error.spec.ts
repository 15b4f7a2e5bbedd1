import { BadRequestException, HttpException } from '@nestjs/common';
import { ReachError } from '../../core/errors.js';
import { toReachError } from './to-reach-error.js';

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code });

describe('toReachError', () => {
  test('a ReachError is itself', () => {
    const error = new ReachError('CALL_CYCLE', 'x');
    expect(toReachError(error)).toBe(error);
  });

  test.each([
    [new BadRequestException('x'), 'VALIDATION_FAILED'],
    [new HttpException('x', 413), 'PAYLOAD_TOO_LARGE'],
    [new HttpException('x', 415), 'UNSUPPORTED_MEDIA_TYPE'],
    [new HttpException('x', 418), 'VALIDATION_FAILED'],
    [withCode('ECONNREFUSED'), 'UNAVAILABLE'],
    [withCode('57P01'), 'UNAVAILABLE'],
    [withCode('53300'), 'UNAVAILABLE'],
    [withCode('57014'), 'UNAVAILABLE'],
    [withCode('08006'), 'UNAVAILABLE'],
    [new Error('timeout exceeded when trying to connect'), 'UNAVAILABLE'],
    [Object.assign(new Error('query failed'), { driverError: withCode('57P03') }), 'UNAVAILABLE'],
    [Object.assign(new Error('away'), { name: 'CoordinatorUnavailable' }), 'UNAVAILABLE'],
    [new Error('outer', { cause: withCode('ECONNRESET') }), 'UNAVAILABLE'],
  ])('%s -> %s', (thrown, code) => {
    expect(toReachError(thrown)?.code).toBe(code);
  });

  test.each([
    [new Error('bug')],
    [withCode('23505')],
    [withCode('22P05')],
    ['text'],
    [undefined],
    [new HttpException('x', 500)],
  ])('%s is a bug', (thrown) => expect(toReachError(thrown)).toBeUndefined());
});
