/* Loaded before the program (`node --import`): SIGUSR2 blocks its event loop for BLOCK_LOOP_MS. */
const ms = Number(process.env['BLOCK_LOOP_MS'] ?? 5000);
const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));

process.on('SIGUSR2', () => Atomics.wait(nobodyWakes, 0, 0, ms));
