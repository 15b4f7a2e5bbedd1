import { Test } from '@nestjs/testing';
import { loadConfig } from '../../platform/config/config.js';
import { PlatformModule } from '../../platform/platform.module.js';
import { Probers } from './probers.js';
import { ProbersModule } from './probers.module.js';

async function probers(): Promise<Probers> {
  const module = await Test.createTestingModule({
    imports: [PlatformModule.of(loadConfig({})), ProbersModule],
  }).compile();
  return module.get(Probers);
}

it('finds a prober by its type, and none for a type that nobody probes', async () => {
  const all = await probers();
  expect(all.get('http')?.type).toBe('http');
  expect(all.get('agent')).toBeUndefined();
});

const declared = (more: object) => ({ name: 'a', type: 'http', target: 'http://x.test/', ...more });

it('takes for the same what is asked in the same way', async () => {
  const http = (await probers()).get('http');
  const keyOf = (more: object) => http?.keyOf(http.parse(declared(more)));
  expect(keyOf({ name: 'b', critical: true, timeout_ms: 1 })).toBe(keyOf({}));
  expect(keyOf({ options: { headers: { a: '1', b: '2' }, method: 'GET' } })).toBe(
    keyOf({ options: { headers: { b: '2', a: '1' } } }),
  );
  const others = [
    { target: 'http://y.test/' },
    { credential: 'env:REACH_CREDENTIAL_X' },
    { slow_ms: 1 },
    { options: { method: 'HEAD' } },
  ];
  expect(new Set([{}, ...others].map(keyOf)).size).toBe(others.length + 1);
});

it('says which place of a declaration it cannot use', async () => {
  const http = (await probers()).get('http');
  expect(http?.hostOf(http.parse(declared({ target: 'https://API.test/v1' })))).toBe('api.test:443');
  expect(() => http?.parse(declared({ options: { expect: { status: [1] } } }))).toThrow(
    expect.objectContaining({
      extra: { errors: [expect.objectContaining({ pointer: '/options/expect/status/0' })] },
    }),
  );
  expect(() => http?.parse(declared({ target: undefined }))).toThrow('/target');
});
