/** Lines of one child that its operator sees as they come; its record has the end of them all. */
const MAX_LINES = 20;

/** Levels of a session's log that are its own business. */
const QUIET_LEVELS: readonly unknown[] = ["info", "debug"];

/**
 * What the operator reads of the stderr of one child's session, each line with its delegation: its
 * warnings and errors, and what is no line of its log. It is data of a process that may have been taken over: so many lines
 * and no more.
 */
export class ChildEcho {
  readonly #delegationId: string;
  readonly #say: (line: string) => void;
  #left = MAX_LINES;

  constructor(delegationId: string, say: (line: string) => void) {
    this.#delegationId = delegationId;
    this.#say = say;
  }

  line(line: string): void {
    const text = worthSaying(line);
    if (text === undefined || this.#left === 0) return;
    this.#say(`${this.#delegationId}: ${text}`);
    if (--this.#left === 0) this.#say(`${this.#delegationId}: no more of what it says is shown here`);
  }
}

function worthSaying(line: string): string | undefined {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof found !== "object" || found === null) return line;
  const { level, msg } = found as Readonly<Record<string, unknown>>;
  if (QUIET_LEVELS.includes(level)) return undefined;
  return typeof msg === "string" ? msg : line;
}
