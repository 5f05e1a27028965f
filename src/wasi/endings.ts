/** Thrown through a guest by `wasi:cli/exit`: the run is over with `code` (0–255). */
export class GuestExit extends Error {
  override readonly name = "GuestExit";
  readonly code: number;

  constructor(code: number) {
    super(`Exit: the guest ended with code ${code}`);
    this.code = code;
  }
}

/** Thrown through a guest that went past a limit which ends the run. */
export class LimitReached extends Error {
  override readonly name = "LimitReached";
  readonly limit: "output";

  constructor(limit: "output", message: string) {
    super(message);
    this.limit = limit;
  }
}
