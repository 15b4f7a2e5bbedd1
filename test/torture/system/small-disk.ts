import { spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';

const SIZE = '8g';

/** A directory that is a disk of its own, in memory, and can be full. It takes root to have one. */
export class SmallDisk {
  private constructor(private readonly path: string) {}

  /** Puts one at a directory; undefined, where that is not allowed. */
  static mount(path: string): SmallDisk | undefined {
    if (process.getuid?.() !== 0) return undefined;
    const done = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0711`, 'tmpfs', path]);
    return done.status === 0 ? new SmallDisk(path) : undefined;
  }

  /** Leaves no room but for what is there already. @throws when that is not possible */
  fill(): void {
    for (let spare = 0; ; spare++) {
      // What is written between the look and the change makes the size too small: then with a little more to spare.
      const { blocks, bfree, bsize } = statfsSync(this.path);
      try {
        return this.resize(String((blocks - bfree + 64 * spare) * bsize));
      } catch (error) {
        if (spare === 20) throw error;
      }
    }
  }

  free(): void {
    this.resize(SIZE);
  }

  /** What is still in it goes with it. */
  unmount(): void {
    spawnSync('umount', ['-l', this.path]);
  }

  private resize(size: string): void {
    const done = spawnSync('mount', ['-o', `remount,size=${size}`, this.path], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`the disk at ${this.path} keeps its size: ${done.stderr}`);
  }
}
