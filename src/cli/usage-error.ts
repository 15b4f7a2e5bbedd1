/** The command line cannot be understood; exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The command did what it could, the answer is bad news; exit code 1 and, unless empty, one line on stderr. */
export class CommandFailed extends Error {
  constructor(message = '') {
    super(message);
    this.name = 'CommandFailed';
  }
}
