import { Logger } from '@nestjs/common';
import { RegistryEvents } from './registry.events.js';

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(true));

it('lets a listener that fails harm neither the others nor whoever made the change', () => {
  const events = new RegistryEvents();
  const heard: string[] = [];
  events.listen('switched', () => {
    throw new Error('a bug');
  });
  events.listen('switched', () => heard.push('second'));
  expect(() => events.emit('switched')).not.toThrow();
  expect(heard).toEqual(['second']);
});
