import { Logger } from '@nestjs/common';
import { PHASES, Shutdown } from './shutdown.js';
import { endOnSignals } from './signals.js';

beforeAll(() => {
  Logger.overrideLogger(false);
});

const never = () => new Promise<void>(() => undefined);

describe('Shutdown', () => {
  test('phases run in order, whatever the order of registration; a phase waits for the one before', async () => {
    const shutdown = new Shutdown({ shutdownGraceMs: 5000 });
    const seen: string[] = [];
    for (const phase of [...PHASES].reverse()) {
      shutdown.on(phase, phase, async () => {
        seen.push(`${phase} begins`);
        await new Promise(setImmediate);
        seen.push(`${phase} ends`);
      });
    }
    await shutdown.run();
    expect(seen).toEqual(PHASES.flatMap((phase) => [`${phase} begins`, `${phase} ends`]));
  });

  test('is stopping before the first step begins', async () => {
    const shutdown = new Shutdown({ shutdownGraceMs: 5000 });
    let atFirstStep: boolean | undefined;
    shutdown.on('intake', 'look', () => {
      atFirstStep = shutdown.stopping && shutdown.signal.aborted;
    });
    expect(shutdown.stopping).toBe(false);
    await shutdown.run();
    expect(atFirstStep).toBe(true);
  });

  test('runs once, however often it is asked', async () => {
    const shutdown = new Shutdown({ shutdownGraceMs: 5000 });
    let runs = 0;
    shutdown.on('drain', 'count', () => {
      runs++;
    });
    await Promise.all([shutdown.run(), shutdown.run(), shutdown.onModuleDestroy()]);
    expect(runs).toBe(1);
  });

  test('a step that throws or rejects stops nobody', async () => {
    const shutdown = new Shutdown({ shutdownGraceMs: 5000 });
    let reached = 0;
    shutdown.on('intake', 'throws', () => {
      throw new Error('x');
    });
    shutdown.on('intake', 'rejects', () => Promise.reject(new Error('y')));
    shutdown.on('intake', 'beside', () => void reached++);
    shutdown.on('pools', 'after', () => void reached++);
    await shutdown.run();
    expect(reached).toBe(2);
  });

  test('a step that hangs costs its share of the grace, and the later phases still run', async () => {
    const shutdown = new Shutdown({ shutdownGraceMs: 200 });
    let closed = false;
    shutdown.on('drain', 'hangs', never);
    shutdown.on('clients', 'hangs too', never);
    shutdown.on('pools', 'closes', () => {
      closed = true;
    });
    await shutdown.run();
    expect(closed).toBe(true);
  });
});

describe('endOnSignals', () => {
  function ending() {
    const handlers = new Map<string, () => void>();
    const codes: number[] = [];
    return {
      codes,
      on: (signal: string, handler: () => void) => handlers.set(signal, handler),
      exit: (code: number) => void codes.push(code),
      send: (signal: string) => handlers.get(signal)?.(),
    };
  }

  test('several signals stop once and exit 0 once', async () => {
    const process = ending();
    let stops = 0;
    endOnSignals(process, 1000, async () => void stops++);
    process.send('SIGTERM');
    process.send('SIGTERM');
    process.send('SIGINT');
    await new Promise(setImmediate);
    expect({ stops, codes: process.codes }).toEqual({ stops: 1, codes: [0] });
  });

  test('a shutdown that fails exits 1', async () => {
    const process = ending();
    endOnSignals(process, 1000, () => Promise.reject(new Error('x')));
    process.send('SIGINT');
    await new Promise(setImmediate);
    expect(process.codes).toEqual([1]);
  });
});
