import { Injectable } from '@nestjs/common';

/** Lets whoever sets a deadline wake the sweep in time; the sweep's own interval is only the safety net. */
@Injectable()
export class DeadlineAlarm {
  private ring: ((inMs: number) => void) | undefined;

  /** The sweep says how it wants to be woken. */
  connect(ring: (inMs: number) => void): void {
    this.ring = ring;
  }

  /** A deadline was set that passes in `inMs`. */
  set(inMs: number): void {
    this.ring?.(inMs);
  }
}
