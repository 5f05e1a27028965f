/** A signal that is aborted after a time, or with another signal, unless it was cleared before. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #end: number;
  readonly #other: AbortSignal | undefined;
  readonly #follow = () => this.#abort.abort();

  constructor(ms: number, other?: AbortSignal) {
    this.#end = performance.now() + ms;
    this.#timer = setTimeout(this.#follow, ms);
    this.#other = other;
    other?.addEventListener("abort", this.#follow);
    if (other?.aborted) this.#abort.abort();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** A deadline for one of `parts` attempts that are left: none may use up the time of those behind it. The last has it all. */
  share(parts: number): Deadline {
    if (parts <= 1) return this;
    return new Deadline(Math.max(1, (this.#end - performance.now()) / parts), this.signal);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#other?.removeEventListener("abort", this.#follow);
  }
}
