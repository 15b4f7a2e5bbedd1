import type { Command } from 'commander';

/** `demo`: a centre, agents and a pipeline on this machine, with accidents. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'run a centre with agents on real documents, break some of it, and show what becomes of the tasks',
    )
    .option('--data-dir <path>', 'where the centre keeps its data (default: a new temporary directory)')
    .option('--keep', 'leave it all running at the end, until Ctrl-C', false)
    .action(async (options: { dataDir?: string; keep: boolean }) => {
      const { runDemo } = await import('../demo/demo.js');
      // All its processes have ended by now; an interrupted one may still have timers here.
      process.exit(await runDemo(options));
    });
}
