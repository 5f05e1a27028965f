/** The time that a call may take, from its start on; it stands still while somebody else is waited for. */
export class CallClock {
  readonly #onOver: () => void;
  #leftMs: number;
  #startedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #holds = 0;
  #isStopped = false;

  constructor(ms: number, onOver: () => void) {
    this.#leftMs = ms;
    this.#onOver = onOver;
    this.#run();
  }

  hold(): void {
    if (++this.#holds > 1 || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  release(): void {
    if (--this.#holds === 0 && !this.#isStopped) this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#leftMs));
  }
}
