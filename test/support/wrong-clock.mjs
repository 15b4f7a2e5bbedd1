/*
 * Loaded before the program (`node --import`): its time of day is wrong by CLOCK_OFFSET_MS, and by CLOCK_DRIFT of the
 * time that passes.
 */
const offsetMs = Number(process.env['CLOCK_OFFSET_MS'] ?? 0);
const drift = Number(process.env['CLOCK_DRIFT'] ?? 0);
const Right = Date;
const now = () => Right.now() + offsetMs + Math.round(drift * performance.now());

globalThis.Date = class Date extends Right {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }

  static now() {
    return now();
  }
};
