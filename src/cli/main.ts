#!/usr/bin/env node
import { CommanderError } from 'commander';
import { explainError } from './explain-error.js';
import { createProgram } from './program.js';

/*
 * The command `reach`. Exit codes: 0 all is well, 1 the task or the call failed, 2 it was called wrongly.
 */

// `reach tasks | head` closes the pipe early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const program = createProgram();
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    const { message, exitCode } = explainError(error);
    if (message !== '') process.stderr.write(`reach: ${message}\n`);
    process.exitCode = exitCode;
  }
}
