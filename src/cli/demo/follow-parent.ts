/*
 * Loaded into the demo's processes with --import: when the demo ends in whatever way, its end of the pipe to
 * standard input closes, and the process ends too.
 */
process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
process.stdin.on('error', () => undefined);
process.stdin.resume();
(process.stdin as unknown as { unref?: () => void }).unref?.();
// Nobody reads what is written from then on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
