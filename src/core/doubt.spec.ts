import { MASS_WINDOW_MS, MassChange } from './mass-change.js';
import { StallWatch } from './stall-watch.js';

describe('a stall of our own', () => {
  test('is seen by what started before its end, and by nothing that started later', () => {
    const watch = new StallWatch(0, 500);
    for (let now = 100; now <= 1000; now += 100) expect(watch.tick(now)).toBe(0);
    expect(watch.stalledSince(0, 1050)).toBe(false);
    expect(watch.tick(4000)).toBe(3000);
    expect(watch.stalledSince(3999, 4050)).toBe(true);
    expect(watch.stalledSince(4001, 4050)).toBe(false);
  });

  test('is seen by whoever looks before its tick', () => {
    const watch = new StallWatch(0, 500);
    watch.tick(100);
    expect(watch.stalledSince(550, 600)).toBe(false);
    expect(watch.stalledSince(590, 601)).toBe(true);
  });
});

describe('a mass change', () => {
  const turned = (agents: number, nowMs = 0) => {
    const change = new MassChange();
    for (let i = 0; i < agents; i++) change.note(`agent-${i}`, nowMs);
    return change;
  };

  test.each([
    [3, 3, false],
    [4, 4, true],
    [4, 13, true],
    [4, 14, false],
    [30, 100, false],
    [31, 100, true],
  ])('%i of %i agents: %s', (agents, watched, mass) => {
    expect(turned(agents).isMass(watched, 100)).toBe(mass);
  });

  test('counts an agent once, and not one that is fine after all', () => {
    const change = turned(4);
    change.note('agent-0', 50);
    expect(change.isMass(4, 100)).toBe(true);
    change.forget('agent-0');
    expect(change.isMass(4, 100)).toBe(false);
  });

  test('is over when its window has passed', () => {
    const change = turned(10);
    expect(change.isMass(10, MASS_WINDOW_MS - 1)).toBe(true);
    change.note('agent-3', MASS_WINDOW_MS - 1);
    expect(change.isMass(10, MASS_WINDOW_MS)).toBe(false);
  });
});
