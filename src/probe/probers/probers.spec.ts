import type { Prober } from '../prober.js';
import { Probers } from './probers.js';

it('finds a prober by its type, and none for a type that nobody probes', () => {
  const tcp = { type: 'tcp' } as Prober<unknown>;
  const probers = new Probers([tcp]);
  expect(probers.get('tcp')).toBe(tcp);
  expect(probers.get('agent')).toBeUndefined();
});
