/** The time that a call may take, from its start on; it stands still while somebody else is waited for. */
export class CallClock {
  readonly #onOver: () => void;
  #leftMs: number;
  #startedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isHeld = false;
  #isStopped = false;

  constructor(ms: number, onOver: () => void) {
    this.#leftMs = ms;
    this.#onOver = onOver;
    this.#run();
  }

  /** Whether it stands still. */
  set isHeld(isHeld: boolean) {
    if (this.#isStopped || isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) this.#hold();
    else this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #hold(): void {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  #run(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#leftMs));
  }
}
