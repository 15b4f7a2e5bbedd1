import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Socket } from 'node:net';

/**
 * Reads from a pipe that only our process holds open. The kernel closes it when we die in whatever way,
 * SIGKILL included; the server is then shut down the fast way (signal $3), and after 30 s the hard way.
 * The pid is signalled only while the data directory still says it is its server's, since pids are used
 * again. $4, when given, is a throw-away directory that goes with the server.
 */
const SCRIPT = `
read -r word && [ "$word" = done ] && exit 0
mine() { first=; read -r first < "$2/postmaster.pid"; [ "$first" = "$1" ] && kill -0 "$1"; }
# We may have died before the server wrote its pid.
mine "$1" "$2" || sleep 1
if mine "$1" "$2"; then
  kill -"$3" "$1"
  turns=0
  while mine "$1" "$2" && [ $turns -lt 300 ]; do sleep 0.1; turns=$((turns + 1)); done
  mine "$1" "$2" && kill -QUIT "$1"
fi
[ -n "$4" ] && rm -rf -- "$4"
exit 0
`;

/** A shell of about 1 MB that ends the server when our process is gone. None on Windows. */
export class Watchdog {
  private constructor(private readonly pipe: Socket | null) {}

  /** Starts watching over server `pid`; `throwAway` is a directory to remove together with the server. */
  static start(pid: number, dataDir: string, throwAway?: string): Watchdog {
    if (process.platform === 'win32') return new Watchdog(null);
    const signal = throwAway === undefined ? 'INT' : 'QUIT';
    const child = spawn(
      '/bin/sh',
      ['-c', SCRIPT, 'reach-postgres-watchdog', String(pid), join(dataDir), signal, throwAway ?? ''],
      // A session of its own: Ctrl-C and a kill of our process group must not reach it.
      { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' },
    );
    const pipe = child.stdin as unknown as Socket;
    // Without a watchdog the server is still stopped by the next start on this directory.
    child.on('error', () => undefined);
    pipe.on('error', () => undefined);
    child.unref();
    pipe.unref();
    return new Watchdog(pipe);
  }

  /** Ends the watch without touching the server. */
  dismiss(): void {
    this.pipe?.end('done\n');
  }
}
