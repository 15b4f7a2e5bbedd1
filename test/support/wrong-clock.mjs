/* Loaded before the program (`node --import`): its time of day is wrong by CLOCK_OFFSET_MS. */
const offsetMs = Number(process.env['CLOCK_OFFSET_MS']);
const Right = Date;
const now = Right.now.bind(Right);

globalThis.Date = class Date extends Right {
  constructor(...given) {
    if (given.length === 0) super(now() + offsetMs);
    else super(...given);
  }

  static now() {
    return now() + offsetMs;
  }
};
